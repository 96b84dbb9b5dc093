// Package docgen is the service: the objects, the rules and the operations of Platen, one file for each noun.
//
// An operation takes the Caller it acts for, checks what the caller may do, and does its work in one transaction. What
// the caller may not see is answered as if it did not exist. Every failure a caller can do something about is an *Error;
// any other error is internal and must not be shown.
//
// Above this package stand those that turn something outside into a call of one operation: server for an HTTP request,
// generate for a task of the queue. Below it stand store and blob, which know nothing of the rules.
//
// Its files, by what they are about:
//
//	who calls            caller scope token user manage leave erase erasure forget application grant assertion tokens use audit denial
//	what there is        item file folder version copy move trash purge removal quota archive policy relocate sweep contents checksum verify backup
//	who may do what      access collaboration invitation terms owner
//	how documents arise  template defaults tag contract include dryrun batch input stage trace options pdf lane job joblist failure output ending merge retention
//	who is told          trigger event webhook delivery outbox backlog signing listener
//	what all share       service ready room error fault id name page offset
package docgen
