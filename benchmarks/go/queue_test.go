package main

import (
	"math"
	"testing"
	"time"
)

func wantNext(t *testing.T, queue interface{ Get() (string, bool) }, want string) {
	t.Helper()
	if got, ok := queue.Get(); !ok || got != want {
		t.Fatalf("got %q, %v; want %q", got, ok, want)
	}
}

func TestKeyAddedWhileHeldGoesToTheTailWhenDone(t *testing.T) {
	queue := newQueue[string](noMetrics[string]{})
	queue.Add("a")
	queue.Add("b")
	wantNext(t, queue, "a")
	queue.Add("a")
	queue.Add("a")
	queue.Add("c")
	if queue.Len() != 2 {
		t.Fatalf("%d keys are ready, want 2", queue.Len())
	}
	queue.Done("a")
	wantNext(t, queue, "b")
	wantNext(t, queue, "c")
	wantNext(t, queue, "a")
}

func TestKeyAddedAgainWhileReadyRunsOnceInItsPlace(t *testing.T) {
	queue := newQueue[string](noMetrics[string]{})
	for _, key := range []string{"a", "b", "a", "a"} {
		queue.Add(key)
	}
	wantNext(t, queue, "a")
	wantNext(t, queue, "b")
	if queue.Len() != 0 {
		t.Fatalf("%d keys are ready, want none", queue.Len())
	}
}

func TestGetWaitsForAnAdd(t *testing.T) {
	queue := newQueue[string](noMetrics[string]{})
	got := make(chan string)
	go func() {
		key, _ := queue.Get()
		got <- key
	}()
	queue.Add("a")
	if key := <-got; key != "a" {
		t.Fatalf("got %q", key)
	}
}

func TestAfterShutDownReadyKeysAreStillHandedOut(t *testing.T) {
	queue := newQueue[string](noMetrics[string]{})
	queue.Add("a")
	queue.ShutDown()
	queue.Add("b")
	wantNext(t, queue, "a")
	if _, ok := queue.Get(); ok {
		t.Fatal("got a key that was added after the shutdown")
	}
}

func TestDelayedKeysComeInTheOrderOfTheirTimes(t *testing.T) {
	queue := newDelayingQueue[string](noMetrics[string]{})
	defer queue.ShutDown()
	queue.AddAfter("late", 30*time.Millisecond)
	queue.AddAfter("early", 10*time.Millisecond)
	queue.AddAfter("moved", time.Hour)
	queue.AddAfter("moved", 20*time.Millisecond)
	queue.AddAfter("moved", time.Hour)
	queue.AddAfter("now", 0)
	for _, want := range []string{"now", "early", "moved", "late"} {
		wantNext(t, queue, want)
	}
}

func TestFailedKeysWaitTwiceAsLongEachTime(t *testing.T) {
	limiter := newExponential[string](5*time.Millisecond, 1000*time.Second)
	for _, want := range []time.Duration{5, 10, 20, 40} {
		if delay := limiter.When("a"); delay != want*time.Millisecond {
			t.Fatalf("waits %v, want %v ms", delay, want)
		}
	}
	for n := 0; n < 2000; n++ {
		limiter.When("a")
	}
	if delay := limiter.When("a"); delay != 1000*time.Second {
		t.Fatalf("waits %v, want 1000 s", delay)
	}
	limiter.Forget("a")
	if delay := limiter.When("a"); delay != 5*time.Millisecond || limiter.NumRequeues("a") != 1 {
		t.Fatalf("waits %v after it was forgotten", delay)
	}
}

func TestBucketDelaysWhatExceedsItsBurst(t *testing.T) {
	limiter := newBucket[string](10, 2)
	wants := []float64{0, 0, 100, 200, 300}
	for _, want := range wants {
		delay := limiter.When("a")
		if got := float64(delay) / 1e6; math.Abs(got-want) > 20 {
			t.Fatalf("waits %v, want %v ms", delay, want)
		}
	}
}

func TestRateLimitedKeyComesBack(t *testing.T) {
	queue := newRateLimitingQueue[string](noMetrics[string]{}, withBucket())
	defer queue.ShutDown()
	queue.AddRateLimited("a")
	wantNext(t, queue, "a")
	if queue.NumRequeues("a") != 1 {
		t.Fatalf("%d failures, want 1", queue.NumRequeues("a"))
	}
	queue.Forget("a")
	queue.Done("a")
}

func TestOnlyTheMetricsOf031AllocateForEachChange(t *testing.T) {
	for version, want := range map[string]float64{"now": 1, "0.31": 4} {
		queue := newQueue(versions[version])
		key := "namespace/object"
		got := testing.AllocsPerRun(100, func() {
			queue.Add(key)
			taken, _ := queue.Get()
			queue.Done(taken)
		})
		if got != want {
			t.Fatalf("%v allocations with the metrics of %s, want %v", got, version, want)
		}
	}
}
