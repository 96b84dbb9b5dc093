// Package docgen implements the service: the objects, rules, and operations of Platen, with one file for each noun.
//
// An operation takes the Caller that it acts for, checks the caller's permissions, and does its work in one transaction. It reports
// objects that the caller may not see as not found. Failures that callers can do something about are of type *Error. All other errors
// are internal and must not be shown to clients.
//
// The packages above it translate requests into calls of one operation: server translates HTTP requests, and generate translates
// tasks of the queue. The packages below it, store and blob, do not know the rules.
//
// Files by subject:
//
//	identity     caller scope token user manage leave erase erasure forget application grant assertion tokens use audit denial
//	             appmanage owntoken password attempts session
//	items        item file folder version copy move trash purge removal ticket upload bundlename bundlepart zip zipwalk quota archive policy
//	             relocate sweep contents checksum verify backup
//	permissions  access collaboration invitation terms owner link linkuse linkpassword
//	documents    template defaults tag contract include sample samplecheck dryrun document temporary batch batchlist input stage
//	             accept rows csv csvcolumn pattern trace options pdf lane job joblist cancel retry watch failure claim output
//	             destination ending merge bundle retention
//	operating    operations period alert
//	events       trigger event webhook delivery outbox backlog signing listener receiver eventlog eventstream eventwait
//	shared       service ready room error fault id name page offset key
package docgen
