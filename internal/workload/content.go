package workload

import (
	"fmt"
	"strings"
)

// webPages are what clients ask a web server for.
var webPages = []string{"/", "/index.html", "/style.css", "/logo.svg", "/api/v1/status", "/login", "/favicon.ico", "/news/2026-03"}

// http returns a request and a response of about the given size.
func (t *trace) http(host string, size int) exchange {
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: example/1.0\r\nAccept: */*\r\n\r\n", pick(&t.random, webPages), host)
	body := strings.Repeat("<p>example</p>\n", max(size/15, 1))
	response := fmt.Sprintf("HTTP/1.1 200 OK\r\nServer: example\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	return exchange{[]byte(request), []byte(response)}
}

// record returns n bytes of TLS application data with its record header.
func (t *trace) record(kind byte, n int) []byte {
	return append([]byte{kind, 3, 3, byte(n >> 8), byte(n)}, t.bytes(n)...)
}

// tls returns the exchanges of a TLS session with some requests.
func (t *trace) tls(requests, size int) []exchange {
	list := []exchange{
		{t.record(22, t.between(230, 330)), t.record(22, t.between(900, 1500))},
		{t.record(20, 60), t.record(23, t.between(60, 120))},
	}
	for range requests {
		list = append(list, exchange{t.record(23, t.between(80, 240)), t.record(23, max(size/2+t.below(size), 40))})
	}
	return list
}

// ssh returns the exchanges of an SSH session: versions, keys, then turns of
// typing.
func (t *trace) ssh(turns int) []exchange {
	list := []exchange{
		{[]byte("SSH-2.0-example_1.0\r\n"), []byte("SSH-2.0-OpenSSH_9.9\r\n")},
		{t.bytes(400), t.bytes(480)},
		{t.bytes(48), t.bytes(280)},
	}
	for range turns {
		list = append(list, exchange{t.bytes(36), t.bytes(36 + 16*t.below(6))})
	}
	return list
}
