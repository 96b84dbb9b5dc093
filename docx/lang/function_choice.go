package lang

// choices evaluate only the arguments that they need.
var choices = map[string]*function{
	"$if": {
		usage: `$if(condition, value, otherwise)`, arity: arity{2, many}, also: []string{"$iif", "$ifs", "$case", "$choose"}, text: true,
		choose: chooseIf,
	},
}

// chooseIf returns the value after the first condition that holds, or else the last argument, or the empty text if there is none.
func chooseIf(e *Env, c *Call) (Value, error) {
	args := c.Args
	for ; len(args) > 1; args = args[2:] {
		known := len(e.missing)
		v, err := e.eval(args[0])
		if err != nil {
			return nil, err
		}
		e.overlooked(known)
		if e.isTrue(args[0], v) {
			return e.eval(args[1])
		}
	}
	if len(args) == 0 {
		return "", nil
	}
	return e.eval(args[0])
}
