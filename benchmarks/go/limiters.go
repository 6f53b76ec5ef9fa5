package main

import (
	"math"
	"sync"
	"time"
)

// Limiter decides how long a failed key waits.
type Limiter[K comparable] interface {
	When(key K) time.Duration
	Forget(key K)
	NumRequeues(key K) int
}

// exponential doubles the delay of a key with each failure.
type exponential[K comparable] struct {
	lock      sync.Mutex
	failures  map[K]int
	base, max time.Duration
}

func newExponential[K comparable](base, max time.Duration) *exponential[K] {
	return &exponential[K]{failures: map[K]int{}, base: base, max: max}
}

func (l *exponential[K]) When(key K) time.Duration {
	l.lock.Lock()
	defer l.lock.Unlock()
	failures := l.failures[key]
	l.failures[key] = failures + 1
	ns := float64(l.base.Nanoseconds()) * math.Pow(2, float64(failures))
	if ns >= math.MaxInt64 {
		return l.max
	}
	if delay := time.Duration(ns); delay <= l.max {
		return delay
	}
	return l.max
}

func (l *exponential[K]) Forget(key K) {
	l.lock.Lock()
	defer l.lock.Unlock()
	delete(l.failures, key)
}

func (l *exponential[K]) NumRequeues(key K) int {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.failures[key]
}

// bucket is a token bucket for all keys together. Each call takes a token; where there is none, it
// takes one of the future, and waits for it.
type bucket[K comparable] struct {
	lock      sync.Mutex
	perSecond float64
	burst     float64
	tokens    float64
	last      time.Time
}

func newBucket[K comparable](perSecond float64, burst int) *bucket[K] {
	return &bucket[K]{perSecond: perSecond, burst: float64(burst), tokens: float64(burst)}
}

func (l *bucket[K]) When(K) time.Duration {
	l.lock.Lock()
	defer l.lock.Unlock()
	now := time.Now()
	if !l.last.IsZero() && now.After(l.last) {
		l.tokens = math.Min(l.burst, l.tokens+now.Sub(l.last).Seconds()*l.perSecond)
	}
	l.last = now
	l.tokens--
	if l.tokens >= 0 {
		return 0
	}
	ns := -l.tokens / l.perSecond * 1e9
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

func (l *bucket[K]) Forget(K) {}

func (l *bucket[K]) NumRequeues(K) int { return 0 }

// maxOf is the longest delay of several limiters, each of which is asked.
type maxOf[K comparable] []Limiter[K]

func (l maxOf[K]) When(key K) time.Duration {
	var longest time.Duration
	for _, limiter := range l {
		if delay := limiter.When(key); delay > longest {
			longest = delay
		}
	}
	return longest
}

func (l maxOf[K]) Forget(key K) {
	for _, limiter := range l {
		limiter.Forget(key)
	}
}

func (l maxOf[K]) NumRequeues(key K) int {
	most := 0
	for _, limiter := range l {
		if failures := limiter.NumRequeues(key); failures > most {
			most = failures
		}
	}
	return most
}

// RateLimitingQueue delays failed keys by a limiter.
type RateLimitingQueue[K comparable] struct {
	*DelayingQueue[K]
	limiter Limiter[K]
}

func newRateLimitingQueue[K comparable](metrics Metrics[K], limiter Limiter[K]) *RateLimitingQueue[K] {
	return &RateLimitingQueue[K]{newDelayingQueue(metrics), limiter}
}

// AddRateLimited adds the key when the limiter says.
func (q *RateLimitingQueue[K]) AddRateLimited(key K) {
	q.AddAfter(key, q.limiter.When(key))
}

// Forget has the limiter forget the failures of the key.
func (q *RateLimitingQueue[K]) Forget(key K) {
	q.limiter.Forget(key)
}

// NumRequeues is how often the key failed since it was last forgotten.
func (q *RateLimitingQueue[K]) NumRequeues(key K) int {
	return q.limiter.NumRequeues(key)
}
