package cli

import (
	"context"
	"fmt"

	"platen/docgen"
)

type userCreateCmd struct {
	location
	Login string `required:"" placeholder:"LOGIN" help:"What the user is known by, usually an e-mail address."`
	Name  string `required:"" placeholder:"NAME" help:"Name of the person."`
	Role  string `default:"user" enum:"user,coadmin,admin" help:"user, coadmin or admin."`
}

// Run makes the user and prints the id alone.
func (c *userCreateCmd) Run(ctx context.Context, s *streams) error {
	return c.withService(ctx, func(service *docgen.Service) error {
		user, err := service.CreateUser(ctx, docgen.NewUser{Login: c.Login, Name: c.Name, Role: c.Role})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.out, user.ID)
		return err
	})
}
