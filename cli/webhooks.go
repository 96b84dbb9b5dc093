package cli

// webhooksCmds are the commands for webhooks.
type webhooksCmds struct {
	Listen webhooksListenCmd `cmd:"" help:"Receive events without a public address, and forward them to a program on this machine."`
	Verify webhooksVerifyCmd `cmd:"" help:"Verify the signature of a notification, and explain what is wrong with it."`
	Keys   webhooksKeysCmds  `cmd:"" help:"Print or replace the signing keys of webhooks. Works on the database, whether or not the server runs."`
	Log    webhooksLogCmd    `cmd:"" help:"List deliveries with their states."`
	Show   webhooksShowCmd   `cmd:"" help:"Show one delivery with the requests and responses of all attempts."`
	Replay webhooksReplayCmd `cmd:"" help:"Send a delivery again, or all deliveries that match a filter."`
	Test   webhooksTestCmd   `cmd:"" help:"Send a test event to a webhook, and print the id of the delivery."`
}
