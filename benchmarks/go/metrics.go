package main

// Metrics is notified of every change of a queue, under its lock.
type Metrics[K any] interface {
	added(key K)
	taken(key K)
	finished(key K)
	delayed()
}

// noMetrics is for a queue without a name, which is not measured; it is called all the same.
type noMetrics[K any] struct{}

func (noMetrics[K]) added(K)    {}
func (noMetrics[K]) taken(K)    {}
func (noMetrics[K]) finished(K) {}
func (noMetrics[K]) delayed()   {}

// boxedMetrics is noMetrics as it was up to client-go 0.31. Its methods took keys of any type, so
// that each call allocated memory for its key.
type boxedMetrics struct{}

func (boxedMetrics) added(key string)    { box(key) }
func (boxedMetrics) taken(key string)    { box(key) }
func (boxedMetrics) finished(key string) { box(key) }
func (boxedMetrics) delayed()            {}

var (
	keepsBoxes bool
	lastBox    any
)

// box takes a key as a method of an unknown type does: as far as the compiler knows, it keeps it.
//
//go:noinline
func box(key any) {
	if keepsBoxes {
		lastBox = key
	}
}
