// Makecapture writes the captures of the examples: server.pcap, seen on a
// server, and gateway.pcapng, seen on both interfaces of a home gateway. The
// traffic never happened; running the program again gives the same bytes.
//
//	go run ./examples/makecapture [FOLDER]
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"verdict/capture"
	"verdict/internal/workload"
)

// seed of both captures.
const seed = 2026

func main() {
	folder := "examples"
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	if err := run(folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run(folder string) error {
	if err := write(filepath.Join(folder, "server.pcap"), nil, workload.Server(seed)); err != nil {
		return err
	}
	return write(filepath.Join(folder, "gateway.pcapng"), workload.GatewayInterfaces(), workload.Gateway(seed))
}

// write writes frames to a file, whose name decides the format.
func write(name string, interfaces []capture.Interface, frames []capture.Frame) error {
	sink, err := capture.Create(name)
	if err != nil {
		return err
	}
	if pcapng, ok := sink.(*capture.PcapngSink); ok {
		for i := range interfaces {
			pcapng.AddInterface(i, &interfaces[i])
		}
	}
	for i := range frames {
		if err := sink.Write(&frames[i]); err != nil {
			sink.Close()
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := sink.Close(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
