package main

import (
	"sync"
	"time"
)

const (
	hotKeys = 1000
	workers = 4
)

// task is the keys of one round, how many adds it has, the metrics of its queue, and what to call
// where most is in memory.
type task struct {
	keys    []string
	count   int
	metrics Metrics[string]
	peak    func()
}

// The interfaces through which client-go's queues are used.
type (
	workQueue interface {
		Add(key string)
		Get() (key string, ok bool)
		Done(key string)
		ShutDown()
	}
	delayingQueue interface {
		workQueue
		AddAfter(key string, delay time.Duration)
	}
	rateLimitingQueue interface {
		delayingQueue
		AddRateLimited(key string)
		Forget(key string)
	}
)

// workloads are those of ../src/memory/workloads.ts, by the same names.
var workloads = map[string]func(task){
	"fill-drain":          fillDrain,
	"steady":              steady,
	"hot":                 hot,
	"producer-workers":    producerAndWorkers,
	"rate-limited":        rateLimited(exponentialOnly),
	"rate-limited-bucket": rateLimited(withBucket),
	"delayed":             addDelayed,
}

func fillDrain(t task) {
	var queue workQueue = newQueue(t.metrics)
	for _, key := range t.keys {
		queue.Add(key)
	}
	t.peak()
	for range t.keys {
		key, _ := queue.Get()
		queue.Done(key)
	}
	queue.ShutDown()
}

func steady(t task) {
	var queue workQueue = newQueue(t.metrics)
	for _, key := range t.keys {
		queue.Add(key)
		got, _ := queue.Get()
		queue.Done(got)
	}
	t.peak()
	queue.ShutDown()
}

func hot(t task) {
	var queue workQueue = newQueue(t.metrics)
	for at := 0; at < t.count; at++ {
		queue.Add(t.keys[at%hotKeys])
	}
	t.peak()
	queue.ShutDown()
}

func producerAndWorkers(t task) {
	var queue workQueue = newQueue(t.metrics)
	var done, working sync.WaitGroup
	done.Add(len(t.keys))
	working.Add(workers)
	for worker := 0; worker < workers; worker++ {
		go func() {
			defer working.Done()
			for {
				key, ok := queue.Get()
				if !ok {
					return
				}
				queue.Done(key)
				done.Done()
			}
		}()
	}
	for _, key := range t.keys {
		queue.Add(key)
	}
	done.Wait()
	t.peak()
	queue.ShutDown()
	working.Wait()
}

// A delay of a microsecond: everything goes through the heap, and nothing waits long.
func exponentialOnly() Limiter[string] {
	return newExponential[string](time.Microsecond, 1000*time.Second)
}

// The shape of the default limiter of controllers, with a bucket that does not run out.
func withBucket() Limiter[string] {
	return maxOf[string]{exponentialOnly(), newBucket[string](1e9, 1e9)}
}

func rateLimited(limiter func() Limiter[string]) func(task) {
	return func(t task) {
		var queue rateLimitingQueue = newRateLimitingQueue(t.metrics, limiter())
		var producing sync.WaitGroup
		producing.Add(1)
		go func() {
			defer producing.Done()
			for _, key := range t.keys {
				queue.AddRateLimited(key)
			}
			t.peak()
		}()
		for range t.keys {
			key, _ := queue.Get()
			queue.Forget(key)
			queue.Done(key)
		}
		producing.Wait()
		queue.ShutDown()
	}
}

func addDelayed(t task) {
	made := newDelayingQueue(t.metrics)
	var queue delayingQueue = made
	for _, key := range t.keys {
		queue.AddAfter(key, time.Hour)
	}
	// All of them are in the heap when the last one has left the channel.
	for len(made.arrivals) > 0 {
		time.Sleep(50 * time.Microsecond)
	}
	t.peak()
	queue.ShutDown()
}
