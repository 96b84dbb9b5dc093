// Package docgen is the service: the objects, the rules and the operations of Platen, one file per noun.
//
// An operation takes the Caller it acts for, checks what the caller may do, and does its work in one transaction. What
// the caller may not see is answered as if it did not exist. Every failure a caller can do something about is an *Error;
// any other error is internal and must not be shown.
//
// Above this package stand those that turn something outside into a call of one operation: server for an HTTP request,
// generate for a task of the queue. Below it stand store and blob, which know nothing of the rules.
package docgen
