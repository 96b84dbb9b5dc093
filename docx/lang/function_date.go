package lang

// dateFunctions return the current time, or count days.
var dateFunctions = map[string]*function{
	"$now":   {usage: "$now", text: true, apply: nowOf},
	"$today": {usage: "$today", text: true, apply: todayOf},
	"$days":  {usage: "$days(from, to)", arity: arity{2, 2}, also: []string{"$datedif"}, takes: []takes{{want: aDate}}, apply: days},
}

func nowOf(e *Env, c *Call, _ []Value) (Value, error) {
	m, err := e.now(c)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func todayOf(e *Env, c *Call, _ []Value) (Value, error) {
	m, err := e.now(c)
	if err != nil {
		return nil, err
	}
	m.dateOnly = true
	return m, nil
}

// days returns the number of days from one date to another, which is negative if the second one is earlier. The time of day does not count.
func days(e *Env, c *Call, args []Value) (Value, error) {
	from, err := e.moment(c.Args[0], args[0])
	if err != nil {
		return nil, err
	}
	to, err := e.moment(c.Args[1], args[1])
	if err != nil {
		return nil, err
	}
	return wholeValue(daysBetween(from, to)), nil
}
