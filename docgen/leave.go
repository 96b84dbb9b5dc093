package docgen

import (
	"context"
	"strconv"
	"strings"
	"unicode"

	"platen/store"
)

// Deletion of a user's account, and the transfer or deletion of the user's content.

// DeleteUser ends the account of a user whom the caller manages, with the user's tokens and collaborations. With force, the user's items
// are deleted too. Without it, the user must not own any, not even in the trash.
func (s *Service) DeleteUser(ctx context.Context, c *Caller, id int64, force bool) error {
	if err := c.requireManager(); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.LockSetting(ctx, settingAdmins); err != nil {
			return err
		}
		row, err := s.managed(ctx, tx.Queries, c, id)
		if err != nil {
			return err
		}
		if err := tx.LockTrees(ctx, row.RootFolderID); err != nil {
			return err
		}
		if row, err = s.lockManaged(ctx, tx, c, id); err != nil {
			return err
		}
		if err := c.checkNotSelf(id); err != nil {
			return err
		}
		owns, err := tx.HasContent(ctx, parentOf(row.RootFolderID))
		if err != nil {
			return err
		}
		if owns && !force {
			return userOwns(id)
		}
		if err := s.audit(ctx, tx, c, AuditUserDeleted, auditOf("user", id), "login", row.Login, "force", strconv.FormatBool(force)); err != nil {
			return err
		}
		return s.endUser(ctx, tx, c, row)
	})
}

// checkNotSelf returns an Error if the caller would delete their own account.
func (c *Caller) checkNotSelf(id int64) error {
	if id == c.User.ID || id == c.ActorID {
		return failf(CodeForbidden, "Access denied – you cannot delete your own account.")
	}
	return nil
}

func userOwns(id int64) error {
	return failf(CodeUserOwns, "The user owns files or folders, possibly in the trash. Move them to another user with "+
		"PUT /users/%d/folders/0, or send force=true to delete them.", id)
}

// endUser deletes the private data of a user. The row stays, because other rows refer to it as their creator.
func (s *Service) endUser(ctx context.Context, tx *store.Tx, c *Caller, row store.User) error {
	for _, remove := range []func(context.Context, int64) error{
		tx.DeleteTokensOfUser, tx.DeleteRefreshTokensOfUser, tx.DeleteZipDownloadsOf, tx.DeletePassword, tx.DeleteInvitation,
	} {
		if err := remove(ctx, row.ID); err != nil {
			return err
		}
	}
	if err := tx.DeleteCollaborationsOfUser(ctx, userID(row.ID)); err != nil {
		return err
	}
	if err := tx.ExpireTemporaryFolders(ctx, row.ID); err != nil {
		return err
	}
	matched, err := s.purge(ctx, tx, c, Folder, row.RootFolderID)
	if err != nil {
		return err
	}
	if err := tx.DeleteUser(ctx, row.ID, s.micros(), endedKey(row.ID)); err != nil {
		return err
	}
	if err := s.checkAdmins(ctx, tx, row); err != nil {
		return err
	}
	return s.enqueue(ctx, tx, matched)
}

// TransferContent moves everything that a user owns into a new folder in the root folder of another user, and returns
// that folder. The caller could read all of it afterward, so permission to manage users is not enough: the caller must
// also be allowed to manage all content.
func (s *Service) TransferContent(ctx context.Context, c *Caller, fromID, toID int64) (*Item, error) {
	return s.transferContent(ctx, c, fromID, toID, func(from store.User) string { return transferName(from.Name) })
}

// transferContent is TransferContent with the name of the folder.
func (s *Service) transferContent(ctx context.Context, c *Caller, fromID, toID int64,
	folderName func(from store.User) string) (*Item, error) {
	if err := c.requireManager(); err != nil {
		return nil, err
	}
	if err := c.require(ScopeGlobalContent); err != nil {
		return nil, err
	}
	if fromID == toID {
		return nil, Invalid(invalidField("owned_by.id", "the new owner must be another user"))
	}
	var item *Item
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		from, to, err := s.holdTransfer(ctx, tx, c, fromID, toID)
		if err != nil {
			return err
		}
		folderID, err := s.insertTransferFolder(ctx, tx, c, to, folderName(from))
		if err != nil {
			return err
		}
		events, err := s.transferEvents(ctx, tx, from.RootFolderID, folderID)
		if err != nil {
			return err
		}
		if err := moveContent(ctx, tx, from.RootFolderID, folderID); err != nil {
			return err
		}
		if err := s.transferTree(ctx, tx, folderID, from.ID, to.ID); err != nil {
			return err
		}
		if item, err = s.describeTransfer(ctx, tx, c, to, folderID); err != nil {
			return err
		}
		if err := s.audit(ctx, tx, c, AuditContentTransferred, auditOf("user", fromID), "to", to.Login, "folder_id",
			strconv.FormatInt(folderID, 10)); err != nil {
			return err
		}
		return s.fire(ctx, tx, c, events...)
	})
	return item, err
}

// holdTransfer locks the trees of two users for a transfer of content between them.
func (s *Service) holdTransfer(ctx context.Context, tx *store.Tx, c *Caller, fromID, toID int64) (from, to store.User, err error) {
	err = lockTrees(ctx, tx, func() (_ []int64, err error) {
		if from, err = s.managed(ctx, tx.Queries, c, fromID); err != nil {
			return nil, err
		}
		if to, err = s.newOwner(ctx, tx.Queries, c, toID); err != nil {
			return nil, err
		}
		return []int64{from.RootFolderID, to.RootFolderID}, nil
	})
	if err == nil {
		from, err = s.lockManaged(ctx, tx, c, fromID)
	}
	return from, to, err
}

// newOwner returns the active user to whom the caller wants to transfer content: a user whom the caller manages, or a service account that
// is the caller itself.
func (s *Service) newOwner(ctx context.Context, q *store.Queries, c *Caller, id int64) (store.User, error) {
	find := s.managed
	if id == c.User.ID && c.User.Kind == KindService {
		find = func(ctx context.Context, q *store.Queries, _ *Caller, id int64) (store.User, error) {
			return s.account(ctx, q, id)
		}
	}
	row, err := find(ctx, q, c, id)
	if IsCode(err, CodeNotFound) || err == nil && !isActive(row) {
		return row, Invalid(invalidField("owned_by.id", "user %d does not exist or is not active", id))
	}
	return row, err
}

// insertTransferFolder creates the destination folder for a user's content, with a number in its name if the name is taken.
func (s *Service) insertTransferFolder(ctx context.Context, tx *store.Tx, c *Caller, to store.User, name string) (int64, error) {
	id, root := s.newID(), parentOf(to.RootFolderID)
	name, err := freeName(ctx, tx, root, Folder, name)
	if err != nil {
		return 0, err
	}
	added, err := tx.InsertItem(ctx, newItemRow(Folder, id, root, name, to.ID, c.User.ID, s.micros()))
	if err != nil {
		return 0, err
	}
	if added == 0 {
		return 0, s.nameInUse(ctx, tx.Queries, c, to.RootFolderID, name)
	}
	return id, tx.AddFolderItems(ctx, to.RootFolderID, 1)
}

// transferEvents returns the events for the new folder with a user's content, and for the moves of those items in the
// user's root folder that have webhooks. Other webhooks cannot match these moves.
func (s *Service) transferEvents(ctx context.Context, tx *store.Tx, fromID, folderID int64) ([]event, error) {
	folder, err := s.placeAt(ctx, tx.Queries, Folder, folderID)
	if err != nil {
		return nil, err
	}
	targets, err := tx.ChildWebhookTargets(ctx, fromID)
	if err != nil {
		return nil, err
	}
	events := []event{{trigger: FolderCreated, item: folder}}
	for _, target := range targets {
		p, err := s.placeAt(ctx, tx.Queries, Kind(target.Kind), target.ID)
		if err != nil {
			return nil, err
		}
		events = append(events, moveEvents(p, folder, folderID)...)
	}
	return events, nil
}

// moveContent moves the content of a folder into an empty folder, including the trash.
func moveContent(ctx context.Context, tx *store.Tx, fromID, toID int64) error {
	items, err := tx.CountListing(ctx, store.Listing{FolderID: fromID})
	if err != nil {
		return err
	}
	if err := tx.MoveChildren(ctx, parentOf(fromID), parentOf(toID)); err != nil {
		return err
	}
	if err := tx.AddFolderItems(ctx, fromID, -items); err != nil {
		return err
	}
	return tx.AddFolderItems(ctx, toID, items)
}

const transferSuffix = "'s Files and Folders"

// transferName returns the name of the folder for the content of a user: the user's name, shortened if necessary.
func transferName(user string) string {
	user = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || unicode.IsControl(r) {
			return '_'
		}
		return r
	}, strings.TrimSpace(user))
	if runes, room := []rune(user), MaxNameLength-len(transferSuffix); len(runes) > room {
		user = strings.TrimSpace(string(runes[:room]))
	}
	return user + transferSuffix
}

// describeTransfer returns a folder as its owner sees it, because the caller who transferred it may not see it.
func (s *Service) describeTransfer(ctx context.Context, tx *store.Tx, c *Caller, owner store.User, folderID int64) (*Item, error) {
	as := callerOf(owner, false)
	p, err := s.find(ctx, tx.Queries, as, Folder, folderID, MaySee)
	if err != nil {
		return nil, err
	}
	item, err := s.describe(ctx, tx.Queries, as, p)
	if err != nil {
		return nil, err
	}
	item.Permissions = permissionsAt(p.chain[0], c)
	return item, nil
}
