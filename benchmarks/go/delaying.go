package main

import (
	"container/heap"
	"sync"
	"time"
)

const (
	// arrivalsMax is how many delayed keys may be on their way to the waiting loop.
	arrivalsMax = 1000
	// heartbeat is how long the waiting loop sleeps at most.
	heartbeat = 10 * time.Second
)

// delayed is a key that is added at an instant.
type delayed[K comparable] struct {
	key     K
	readyAt time.Time
	// index is its position in the heap.
	index int
}

// delayedHeap implements heap.Interface: the earliest first.
type delayedHeap[K comparable] []*delayed[K]

func (h delayedHeap[K]) Len() int           { return len(h) }
func (h delayedHeap[K]) Less(i, j int) bool { return h[i].readyAt.Before(h[j].readyAt) }

func (h delayedHeap[K]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index = i
	h[j].index = j
}

func (h *delayedHeap[K]) Push(x any) {
	entry := x.(*delayed[K])
	entry.index = len(*h)
	*h = append(*h, entry)
}

func (h *delayedHeap[K]) Pop() any {
	last := len(*h) - 1
	entry := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	entry.index = -1
	return entry
}

// DelayingQueue adds keys for later. Callers hand them to one goroutine, the waiting loop, which
// owns the heap, and a map that finds the entry of a key in it.
type DelayingQueue[K comparable] struct {
	*Queue[K]
	arrivals chan *delayed[K]
	stop     chan struct{}
	stopOnce sync.Once
	ticker   *time.Ticker
}

func newDelayingQueue[K comparable](metrics Metrics[K]) *DelayingQueue[K] {
	q := &DelayingQueue[K]{
		Queue:    newQueue(metrics),
		arrivals: make(chan *delayed[K], arrivalsMax),
		stop:     make(chan struct{}),
		ticker:   time.NewTicker(heartbeat),
	}
	go q.wait()
	return q
}

// AddAfter adds the key when the delay has passed. Of two delays of a key the shorter one counts.
func (q *DelayingQueue[K]) AddAfter(key K, delay time.Duration) {
	if q.ShuttingDown() {
		return
	}
	q.metrics.delayed()
	if delay <= 0 {
		q.Add(key)
		return
	}
	select {
	case <-q.stop:
	case q.arrivals <- &delayed[K]{key: key, readyAt: time.Now().Add(delay)}:
	}
}

// ShutDown also ends the waiting loop, and drops the delayed keys.
func (q *DelayingQueue[K]) ShutDown() {
	q.stopOnce.Do(func() {
		q.Queue.ShutDown()
		close(q.stop)
		q.ticker.Stop()
	})
}

// wait is the waiting loop.
func (q *DelayingQueue[K]) wait() {
	entries := &delayedHeap[K]{}
	byKey := map[K]*delayed[K]{}
	arrived := func(entry *delayed[K]) {
		if entry.readyAt.After(time.Now()) {
			insert(entries, byKey, entry)
		} else {
			q.Add(entry.key)
		}
	}
	var timer *time.Timer
	for {
		if q.ShuttingDown() {
			return
		}
		now := time.Now()
		for entries.Len() > 0 && !(*entries)[0].readyAt.After(now) {
			entry := heap.Pop(entries).(*delayed[K])
			q.Add(entry.key)
			delete(byKey, entry.key)
		}
		// A nil channel is never ready.
		var due <-chan time.Time
		if entries.Len() > 0 {
			if timer != nil {
				timer.Stop()
			}
			timer = time.NewTimer((*entries)[0].readyAt.Sub(now))
			due = timer.C
		}
		select {
		case <-q.stop:
			return
		case <-q.ticker.C:
		case <-due:
		case entry := <-q.arrivals:
			arrived(entry)
			for more := true; more; {
				select {
				case entry := <-q.arrivals:
					arrived(entry)
				default:
					more = false
				}
			}
		}
	}
}

func insert[K comparable](entries *delayedHeap[K], byKey map[K]*delayed[K], entry *delayed[K]) {
	known, found := byKey[entry.key]
	if !found {
		heap.Push(entries, entry)
		byKey[entry.key] = entry
	} else if known.readyAt.After(entry.readyAt) {
		known.readyAt = entry.readyAt
		heap.Fix(entries, known.index)
	}
}
