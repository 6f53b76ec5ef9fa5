package main

import "sync"

// ReadyOrder holds the keys that are ready to be handed out. The queue calls it under its lock.
type ReadyOrder[K comparable] interface {
	Touch(key K)
	Push(key K)
	Pop() K
	Len() int
}

// fifo hands keys out in the order in which they were pushed.
type fifo[K comparable] struct {
	keys []K
}

func (f *fifo[K]) Touch(K) {}

func (f *fifo[K]) Push(key K) {
	f.keys = append(f.keys, key)
}

func (f *fifo[K]) Pop() K {
	key := f.keys[0]
	// The slice still refers to the element that it no longer shows.
	var none K
	f.keys[0] = none
	f.keys = f.keys[1:]
	return key
}

func (f *fifo[K]) Len() int {
	return len(f.keys)
}

type set[K comparable] map[K]struct{}

func (s set[K]) has(key K) bool {
	_, found := s[key]
	return found
}

func (s set[K]) insert(key K) {
	s[key] = struct{}{}
}

// Queue is the work queue of client-go: the keys that need a run (dirty), the keys that were handed
// out (processing), and the order of those that are ready. A key that is added while it is handed
// out is dirty only, and becomes ready when it is done.
type Queue[K comparable] struct {
	metrics      Metrics[K]
	ready        ReadyOrder[K]
	dirty        set[K]
	processing   set[K]
	changed      *sync.Cond
	shuttingDown bool
}

func newQueue[K comparable](metrics Metrics[K]) *Queue[K] {
	return &Queue[K]{
		metrics:    metrics,
		ready:      &fifo[K]{},
		dirty:      set[K]{},
		processing: set[K]{},
		changed:    sync.NewCond(&sync.Mutex{}),
	}
}

// Add asks for a run of the key.
func (q *Queue[K]) Add(key K) {
	q.changed.L.Lock()
	defer q.changed.L.Unlock()
	if q.shuttingDown {
		return
	}
	if q.dirty.has(key) {
		if !q.processing.has(key) {
			q.ready.Touch(key)
		}
		return
	}
	q.metrics.added(key)
	q.dirty.insert(key)
	if q.processing.has(key) {
		return
	}
	q.ready.Push(key)
	q.changed.Signal()
}

// Get waits for a key that is ready; false once the queue is shut down and empty.
func (q *Queue[K]) Get() (key K, ok bool) {
	q.changed.L.Lock()
	defer q.changed.L.Unlock()
	for q.ready.Len() == 0 && !q.shuttingDown {
		q.changed.Wait()
	}
	if q.ready.Len() == 0 {
		return key, false
	}
	key = q.ready.Pop()
	q.metrics.taken(key)
	q.processing.insert(key)
	delete(q.dirty, key)
	return key, true
}

// Done ends the run of a key that was handed out.
func (q *Queue[K]) Done(key K) {
	q.changed.L.Lock()
	defer q.changed.L.Unlock()
	q.metrics.finished(key)
	delete(q.processing, key)
	if q.dirty.has(key) {
		q.ready.Push(key)
		q.changed.Signal()
	} else if len(q.processing) == 0 {
		// A caller may wait for the end of all runs.
		q.changed.Signal()
	}
}

// Len is how many keys are ready.
func (q *Queue[K]) Len() int {
	q.changed.L.Lock()
	defer q.changed.L.Unlock()
	return q.ready.Len()
}

// ShutDown refuses adds from now on; keys that are ready are still handed out.
func (q *Queue[K]) ShutDown() {
	q.changed.L.Lock()
	defer q.changed.L.Unlock()
	q.shuttingDown = true
	q.changed.Broadcast()
}

// ShuttingDown is whether ShutDown was called.
func (q *Queue[K]) ShuttingDown() bool {
	q.changed.L.Lock()
	defer q.changed.L.Unlock()
	return q.shuttingDown
}
