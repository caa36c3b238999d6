package tensorflow

/*
#include <stdlib.h>
#include "tensorflow/c/c_api.h"
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Session runs parts of a graph. Steps may run at the same time.
type Session struct {
	c *C.TF_Session
	g *Graph
}

// SessionOptions may be nil.
type SessionOptions struct {
	Target string // of a master; empty for this process
	Config []byte // a serialized ConfigProto
}

func (o *SessionOptions) c() (*C.TF_SessionOptions, error) {
	c := C.TF_NewSessionOptions()
	if o == nil {
		return c, nil
	}
	target := C.CString(o.Target)
	defer C.free(unsafe.Pointer(target))
	C.TF_SetTarget(c, target)
	if len(o.Config) == 0 {
		return c, nil
	}
	s := newStatus()
	C.TF_SetConfig(c, unsafe.Pointer(&o.Config[0]), C.size_t(len(o.Config)), s.c)
	if err := s.err(); err != nil {
		C.TF_DeleteSessionOptions(c)
		return nil, err
	}
	return c, nil
}

func wrapSession(c *C.TF_Session, g *Graph) *Session {
	session := &Session{c, g}
	runtime.SetFinalizer(session, func(s *Session) {
		status := newStatus()
		C.TF_DeleteSession(s.c, status.c)
	})
	return session
}

// NewSession runs a graph, which may grow afterwards.
func NewSession(graph *Graph, options *SessionOptions) (*Session, error) {
	o, err := options.c()
	if err != nil {
		return nil, err
	}
	defer C.TF_DeleteSessionOptions(o)
	s := newStatus()
	c := C.TF_NewSession(graph.c, o, s.c)
	if err := s.err(); err != nil {
		return nil, err
	}
	return wrapSession(c, graph), nil
}

// step has the arguments of a step in C's form.
type step struct {
	feeds, fetches  []C.TF_Output
	values, results []*C.TF_Tensor
}

func newStep(feeds map[Output]*Tensor, fetches []Output) *step {
	s := &step{fetches: cOutputs(fetches), results: make([]*C.TF_Tensor, len(fetches)+1)}
	for output, tensor := range feeds {
		s.feeds = append(s.feeds, output.c())
		s.values = append(s.values, tensor.c)
	}
	s.values = append(s.values, nil)
	return s
}

func (s *step) tensors() []*Tensor {
	tensors := make([]*Tensor, len(s.fetches))
	for i := range tensors {
		tensors[i] = wrapTensor(s.results[i])
	}
	return tensors
}

// Run runs one step: what the fetches and targets need, with the feeds' values.
func (session *Session) Run(feeds map[Output]*Tensor, fetches []Output, targets []*Operation) ([]*Tensor, error) {
	s, step := newStatus(), newStep(feeds, fetches)
	operations, count := cOperations(targets)
	C.TF_SessionRun(session.c, nil, first(step.feeds), &step.values[0], C.int(len(step.feeds)),
		first(step.fetches), &step.results[0], C.int(len(step.fetches)), operations, count, nil, s.c)
	runtime.KeepAlive(feeds)
	runtime.KeepAlive(session)
	if err := s.err(); err != nil {
		return nil, err
	}
	return step.tensors(), nil
}

// PartialRun is a step that runs in parts.
type PartialRun struct {
	session *Session
	handle  *C.char
}

// NewPartialRun says what the parts will feed, fetch and run.
func (session *Session) NewPartialRun(feeds, fetches []Output, targets []*Operation) (*PartialRun, error) {
	s, cFeeds, cFetches := newStatus(), cOutputs(feeds), cOutputs(fetches)
	operations, count := cOperations(targets)
	run := &PartialRun{session: session}
	C.TF_SessionPRunSetup(session.c, first(cFeeds), C.int(len(cFeeds)), first(cFetches),
		C.int(len(cFetches)), operations, count, &run.handle, s.c)
	if err := s.err(); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(run, func(r *PartialRun) { C.TF_DeletePRunHandle(r.handle) })
	return run, nil
}

// Run runs a part.
func (r *PartialRun) Run(feeds map[Output]*Tensor, fetches []Output, targets []*Operation) ([]*Tensor, error) {
	s, step := newStatus(), newStep(feeds, fetches)
	operations, count := cOperations(targets)
	C.TF_SessionPRun(r.session.c, r.handle, first(step.feeds), &step.values[0], C.int(len(step.feeds)),
		first(step.fetches), &step.results[0], C.int(len(step.fetches)), operations, count, s.c)
	runtime.KeepAlive(feeds)
	runtime.KeepAlive(r)
	if err := s.err(); err != nil {
		return nil, err
	}
	return step.tensors(), nil
}

// Device of a session.
type Device struct {
	Name, Type       string
	MemoryLimitBytes int64
}

// ListDevices has the devices that the session can use.
func (session *Session) ListDevices() ([]Device, error) {
	s := newStatus()
	list := C.TF_SessionListDevices(session.c, s.c)
	if err := s.err(); err != nil {
		return nil, err
	}
	defer C.TF_DeleteDeviceList(list)
	devices := make([]Device, C.TF_DeviceListCount(list))
	for i := range devices {
		devices[i] = Device{
			C.GoString(C.TF_DeviceListName(list, C.int(i), s.c)),
			C.GoString(C.TF_DeviceListType(list, C.int(i), s.c)),
			int64(C.TF_DeviceListMemoryBytes(list, C.int(i), s.c)),
		}
	}
	return devices, s.err()
}

// Close ends the session; steps fail from then on.
func (session *Session) Close() error {
	s := newStatus()
	C.TF_CloseSession(session.c, s.c)
	return s.err()
}

// SavedModel is a graph and a session with its variables.
type SavedModel struct {
	Session      *Session
	Graph        *Graph
	MetaGraphDef []byte // serialized; it has the signatures
}

// LoadSavedModel reads the graph with exactly these tags from a directory.
func LoadSavedModel(exportDir string, tags []string, options *SessionOptions) (*SavedModel, error) {
	o, err := options.c()
	if err != nil {
		return nil, err
	}
	defer C.TF_DeleteSessionOptions(o)
	directory := C.CString(exportDir)
	defer C.free(unsafe.Pointer(directory))
	texts, _, free := cStrings(tags)
	defer free()
	graph, s := NewGraph(), newStatus()
	meta := C.TF_NewBuffer()
	c := C.TF_LoadSessionFromSavedModel(o, nil, directory, (**C.char)(unsafe.Pointer(texts)),
		C.int(len(tags)), graph.c, meta, s.c)
	data := takeBuffer(meta)
	if err := s.err(); err != nil {
		return nil, err
	}
	return &SavedModel{wrapSession(c, graph), graph, data}, nil
}
