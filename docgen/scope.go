package docgen

import (
	"slices"
	"strings"

	"platen/store"
)

// Scope is a permission of a token.
type Scope string

// The scopes. Each operation names the one that it requires. With ScopeGlobalContent, a caller may do with every item
// of the enterprise what its owner may, within the limits of the other scopes.
const (
	ScopeRead          Scope = "root_readonly"
	ScopeWrite         Scope = "root_readwrite"
	ScopeDocGen        Scope = "docgen.readwrite"
	ScopeWebhooks      Scope = "manage_webhook"
	ScopeManagedUsers  Scope = "manage_managed_users"
	ScopeAppUsers      Scope = "manage_app_users"
	ScopeEnterprise    Scope = "manage_enterprise_properties"
	ScopeGlobalContent Scope = "enterprise_content"
)

// scopesOf returns all scopes that a token of a user with a role may have.
func scopesOf(role string) []Scope {
	scopes := []Scope{ScopeRead, ScopeWrite, ScopeDocGen, ScopeWebhooks}
	if role == RoleAdmin || role == RoleCoadmin {
		scopes = append(scopes, ScopeManagedUsers, ScopeAppUsers, ScopeEnterprise, ScopeGlobalContent)
	}
	return scopes
}

// allowed returns the scopes that the role of a user allows. The service account of an application has no role: the operator decides the
// scopes of the application.
func allowed(scopes []Scope, user store.User) []Scope {
	if user.Kind == KindService {
		return scopes
	}
	return common(scopes, scopesOf(user.Role))
}

// common returns the scopes in both lists, in the order of the first.
func common(a, b []Scope) []Scope {
	return slices.DeleteFunc(slices.Clone(a), func(scope Scope) bool { return !slices.Contains(b, scope) })
}

// grantable checks that a token can have the requested scopes. If none are requested, it returns all.
func grantable(asked, can []Scope) ([]Scope, error) {
	if len(asked) == 0 {
		return can, nil
	}
	var problems []Problem
	for _, scope := range asked {
		if !slices.Contains(can, scope) {
			problems = append(problems, invalidField("scope", "a token of this user cannot have the scope %q; possible scopes are %s", scope,
				listScopes(can)))
		}
	}
	return asked, Invalid(problems...)
}

// listScopes lists scopes for people.
func listScopes(scopes []Scope) string {
	if len(scopes) == 0 {
		return "none"
	}
	return strings.ReplaceAll(FormatScopes(scopes), " ", ", ")
}

// FormatScopes joins scopes with spaces (RFC 6749, section 3.3).
func FormatScopes(scopes []Scope) string {
	words := make([]string, len(scopes))
	for i, scope := range scopes {
		words[i] = string(scope)
	}
	return strings.Join(words, " ")
}

func parseScopes(text string) []Scope {
	var scopes []Scope
	for word := range strings.FieldsSeq(text) {
		scopes = append(scopes, Scope(word))
	}
	return scopes
}
