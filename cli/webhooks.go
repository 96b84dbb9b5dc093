package cli

// webhooksCmds are the commands about webhooks.
type webhooksCmds struct {
	Listen webhooksListenCmd `cmd:"" help:"Receive what webhooks are told without a public address, and forward it to a program on this machine."`
	Verify webhooksVerifyCmd `cmd:"" help:"Check the signature of a request that a webhook sent, and say what is wrong with it."`
	Keys   webhooksKeysCmds  `cmd:"" help:"Print or replace the keys that webhooks sign with. Works on the database, whether or not the server runs."`
	Log    webhooksLogCmd    `cmd:"" help:"List what webhooks were told, and what became of it."`
	Show   webhooksShowCmd   `cmd:"" help:"Show one delivery with every attempt: what was sent and what was answered."`
	Replay webhooksReplayCmd `cmd:"" help:"Send a delivery again, or all that a filter selects."`
	Test   webhooksTestCmd   `cmd:"" help:"Send a webhook an event that did not happen, and print the id of its delivery."`
}
