// The worked example of a driver in a third language: no SDK, only the protocol. It launches a runtime, makes any call, and tells every
// notification, so it does the cases of layer L1 that need no bytes of their own. The page docs/conformance.md says what each line means.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
)

const version = "0.1.0"

// request is one line of stdin: an operation, and what it needs.
type request struct {
	ID      int               `json:"id"`
	Op      string            `json:"op"`
	As      string            `json:"as"`
	On      string            `json:"on"`
	Runtime string            `json:"runtime"`
	Env     map[string]string `json:"env"`
	Cwd     string            `json:"cwd"`
	Method  string            `json:"method"`
	Params  json.RawMessage   `json:"params"`
	Target  int               `json:"target"`
}

// line is one line of stdout: the result or the error of an operation, or an item on the way to it.
type line struct {
	ID     int     `json:"id"`
	Result any     `json:"result,omitempty"`
	Error  *failed `json:"error,omitempty"`
	Item   any     `json:"item,omitempty"`
}

// failed is an error as a caller would branch on it.
type failed struct {
	Class     string `json:"class"`
	Message   string `json:"message"`
	Code      string `json:"code,omitempty"`
	Retryable *bool  `json:"retryable,omitempty"`
}

func (f *failed) Error() string { return f.Message }

var empty = struct{}{}

// finish answers an operation; it may come from anywhere, and counts once.
type finish func(result any, err error)

// operations are what hello offers, beside abort. None of them waits here: what takes time finishes later.
var operations = map[string]func(d *driver, r request, done finish){
	"launch": func(d *driver, r request, done finish) {
		go func() {
			c, err := launch(r.Runtime, r.Env, r.Cwd)
			if err == nil {
				d.keep(or(r.As, "quiesce"), c)
			}
			done(empty, err)
		}()
	},
	"close": func(d *driver, r request, done finish) {
		d.on(r, done, func(c *connection) { go func() { done(empty, c.close()) }() })
	},
	"ping": func(d *driver, r request, done finish) {
		d.on(r, done, func(c *connection) {
			c.send("server/ping", nil, func(said reply, err error) {
				if err == nil {
					err = said.failure()
				}
				done(empty, err)
			})
		})
	},
	// An error of the runtime is an answer, too: only without one the operation fails.
	"call": func(d *driver, r request, done finish) {
		d.on(r, done, func(c *connection) { c.send(r.Method, r.Params, func(said reply, err error) { done(said, err) }) })
	},
	"notifications": func(d *driver, r request, done finish) {
		d.on(r, done, func(c *connection) {
			c.tell(func(notification json.RawMessage) { d.say(line{ID: r.ID, Item: notification}) }, func() { done(empty, nil) })
		})
	},
}

// driver holds what a case has launched, by the name that the case gave it, and the operations that go on.
type driver struct {
	mutex       sync.Mutex
	connections map[string]*connection
	goingOn     map[int]bool
	encoder     *json.Encoder
}

// say writes a line of an operation, as long as it goes on.
func (d *driver) say(l line) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if !d.goingOn[l.ID] {
		return
	}
	if l.Item == nil {
		delete(d.goingOn, l.ID)
	}
	if err := d.encoder.Encode(l); err != nil {
		os.Exit(1) // nobody listens any more
	}
}

// answer ends an operation with a result or an error.
func (d *driver) answer(id int, result any, err error) {
	var told *failed
	switch {
	case err == nil:
		d.say(line{ID: id, Result: result})
	case errors.As(err, &told):
		d.say(line{ID: id, Error: told})
	default:
		d.say(line{ID: id, Error: &failed{Class: "Error", Message: err.Error()}})
	}
}

func (d *driver) keep(name string, c *connection) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.connections[name] = c
}

// on does something with the connection that the request names.
func (d *driver) on(r request, done finish, do func(c *connection)) {
	name := or(r.On, "quiesce")
	d.mutex.Lock()
	c := d.connections[name]
	d.mutex.Unlock()
	if c == nil {
		done(nil, &failed{Class: "UsageError", Message: fmt.Sprintf("no runtime %q was launched", name)})
		return
	}
	do(c)
}

// reset ends everything that a case left.
func (d *driver) reset() {
	d.mutex.Lock()
	left := d.connections
	d.connections = map[string]*connection{}
	d.mutex.Unlock()
	for _, c := range left {
		c.kill()
	}
}

// hear does what one line of stdin says; every operation is answered once.
func (d *driver) hear(r request) {
	d.mutex.Lock()
	d.goingOn[r.ID] = true
	d.mutex.Unlock()
	switch operation, found := operations[r.Op]; {
	case r.Op == "hello":
		names := []string{"abort"}
		for name := range operations {
			names = append(names, name)
		}
		d.answer(r.ID, map[string]any{"protocol": 1, "name": "go", "version": version, "operations": names}, nil)
	case r.Op == "abort":
		d.answer(r.Target, nil, &failed{Class: "AbortedError", Message: "the operation was given up"})
		d.answer(r.ID, empty, nil)
	case r.Op == "reset":
		d.reset()
		d.answer(r.ID, empty, nil)
	case found:
		operation(d, r, func(result any, err error) { d.answer(r.ID, result, err) })
	default:
		d.answer(r.ID, nil, &failed{Class: "UsageError", Message: fmt.Sprintf("no operation %q", r.Op)})
	}
}

func or(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

// At the end of stdin the driver ends with all that it started.
func main() {
	d := &driver{connections: map[string]*connection{}, goingOn: map[int]bool{}, encoder: json.NewEncoder(os.Stdout)}
	d.encoder.SetEscapeHTML(false)
	for lines := bufio.NewReader(os.Stdin); ; {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			d.reset()
			return
		}
		var r request
		if err := json.Unmarshal(text, &r); err != nil {
			fmt.Fprintf(os.Stderr, "no line of the driver's protocol: %v\n", err)
			continue
		}
		d.hear(r)
	}
}
