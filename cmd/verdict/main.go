// Verdict runs Linux packet filters outside the kernel; see `verdict --help`.
package main

import (
	"os"

	"verdict/internal/cli"
)

func main() {
	os.Exit(cli.Run(os.Args, cli.Standard()))
}
