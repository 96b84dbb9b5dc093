package webhook

import (
	"context"
	"errors"
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestDialSharesTime checks that an address that does not answer leaves time for the others.
func TestDialSharesTime(t *testing.T) {
	port, accepted := listen(t)
	fullQueue(t, [4]byte{127, 0, 0, 2}, port)
	g := guardOf(GuardConfig{Networks: prefixes("127.0.0.0/8")}, map[string][]string{"hooks.example.com": {"127.0.0.2 127.0.0.1"}})
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	waited := time.NewTimer(1600 * time.Millisecond) // the first address gets half of the time
	conn, err := g.dial(ctx, "tcp", "hooks.example.com:"+port)
	if err != nil {
		t.Fatal(err)
	}
	shut(t, conn)
	shut(t, <-accepted)
	select {
	case <-waited.C:
	default:
		t.Error("the dial did not wait for the first address")
	}
}

// fullQueue listens at an address where connecting never ends: its queue is full, and Linux then ignores further requests.
func fullQueue(t *testing.T, ip [4]byte, port string) {
	t.Helper()
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Close(socket); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(syscall.Bind(socket, &syscall.SockaddrInet4{Addr: ip, Port: number}), syscall.Listen(socket, 0)); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", net.JoinHostPort(net.IP(ip[:]).String(), port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, conn) })
}
