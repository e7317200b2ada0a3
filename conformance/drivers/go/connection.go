package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// No end takes longer than this.
const patience = 5 * time.Second

// connection is a runtime that was launched, and the conversation with it.
type connection struct {
	process *exec.Cmd
	// Closed once the process is gone, and all that it said was told.
	exited chan struct{}

	writing sync.Mutex
	stdin   io.WriteCloser

	mutex   sync.Mutex
	over    bool
	lastID  int
	pending map[int]func(reply, error)
	// Notifications that came before somebody wanted to be told.
	untold []json.RawMessage
	told   func(json.RawMessage)
	ended  func()
}

// reply is what JSON-RPC answers: a result or an error, as it came.
type reply struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// failure is the runtime's error as a caller would branch on it, or nil.
func (r reply) failure() error {
	if r.Error == nil {
		return nil
	}
	var e struct {
		Message string `json:"message"`
		Data    struct {
			Code      string `json:"code"`
			Retryable *bool  `json:"retryable"`
		} `json:"data"`
	}
	if err := json.Unmarshal(r.Error, &e); err != nil {
		return &failed{Class: "ProtocolError", Message: err.Error()}
	}
	return &failed{Class: "RpcError", Message: e.Message, Code: e.Data.Code, Retryable: e.Data.Retryable}
}

// launch starts a runtime as an SDK would, and initializes the connection.
func launch(program string, env map[string]string, cwd string) (*connection, error) {
	process := exec.Command(program, "serve", "--stdio")
	process.Dir = cwd
	process.Env = os.Environ()
	for name, value := range env {
		process.Env = append(process.Env, name+"="+value)
	}
	stdin, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, &failed{Class: "LaunchError", Message: err.Error()}
	}
	c := &connection{process: process, stdin: stdin, exited: make(chan struct{}), pending: map[int]func(reply, error){}}
	go c.read(stdout)
	params := fmt.Sprintf(`{"protocol":{"min":1,"max":1},"client":{"name":"conformance-go","version":%q}}`, version)
	if err := c.ask("initialize", json.RawMessage(params)); err != nil {
		c.kill()
		return nil, err
	}
	return c, nil
}

// send makes a request. Requests go out in the order in which they are made, and are answered in the order in which answers come.
func (c *connection) send(method string, params json.RawMessage, answered func(reply, error)) {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mutex.Lock()
	over := c.over
	c.lastID++
	id := c.lastID
	if !over {
		c.pending[id] = answered
	}
	c.mutex.Unlock()
	if over {
		answered(reply{}, gone)
		return
	}
	text, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      int             `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params,omitempty"`
	}{"2.0", id, method, params})
	if err == nil {
		// A runtime that is gone can't be written to: the end of its stdout says so.
		_, _ = c.stdin.Write(append(text, '\n'))
	}
}

var gone = &failed{Class: "ConnectionClosedError", Message: "the runtime is gone"}

// ask makes a request and waits for it.
func (c *connection) ask(method string, params json.RawMessage) error {
	answered := make(chan error, 1)
	c.send(method, params, func(said reply, err error) {
		if err == nil {
			err = said.failure()
		}
		answered <- err
	})
	return <-answered
}

// tell tells every notification, those that came before first, and the end of the connection.
func (c *connection) tell(told func(json.RawMessage), ended func()) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, text := range c.untold {
		told(text)
	}
	c.untold, c.told, c.ended = nil, told, ended
	if c.over {
		ended()
	}
}

// read takes every frame in its order, until there is none.
func (c *connection) read(stdout io.Reader) {
	for lines := bufio.NewReader(stdout); ; {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		c.take(text)
	}
	c.mutex.Lock()
	c.over = true
	for _, answered := range c.pending {
		answered(reply{}, gone)
	}
	if c.ended != nil {
		c.ended()
	}
	c.mutex.Unlock()
	_ = c.process.Wait()
	close(c.exited)
}

func (c *connection) take(text []byte) {
	var frame struct {
		reply
		ID     *int   `json:"id"`
		Method string `json:"method"`
	}
	if err := json.Unmarshal(text, &frame); err != nil {
		fmt.Fprintf(os.Stderr, "the runtime wrote to stdout what is no frame: %.200s\n", text)
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case frame.Method != "" && c.told != nil:
		c.told(text)
	case frame.Method != "":
		c.untold = append(c.untold, text)
	case frame.ID != nil && c.pending[*frame.ID] != nil:
		answered := c.pending[*frame.ID]
		delete(c.pending, *frame.ID)
		answered(frame.reply, nil)
	}
}

// close ends the runtime in its own way, and in bounded time.
func (c *connection) close() error {
	late := time.AfterFunc(patience, c.kill)
	defer late.Stop()
	err := c.ask("shutdown", nil)
	_ = c.stdin.Close()
	<-c.exited
	return err
}

func (c *connection) kill() {
	_ = c.process.Process.Kill()
	<-c.exited
}
