// The work queue of Kubernetes' client-go, rebuilt from the description of its rules, as the
// yardstick of the queue in memory. It reads a line per sample,
//
//	WORKLOAD VERSION FIRST KEYS COUNT time|heap
//
// runs the workload once over the keys namespace/object-FIRST and following, on the queue of client-go
// as it is `now` or as it was in `0.31`, and answers with a line of JSON: with `time` how long it took,
// with `heap` what was in memory at the peak.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

var startedAt = time.Now()

type answer struct {
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpuSeconds"`
	GCSeconds  float64 `json:"gcSeconds"`
	PeakBytes  int64   `json:"peakBytes"`
}

// cpuSeconds is the CPU time of this process, of all its threads.
func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

// gcSeconds is the CPU time of the garbage collector up to its last collection.
func gcSeconds() float64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	if stats.NumGC == 0 {
		return 0
	}
	// The runtime has it as a share of the time of all processors since the program started.
	since := time.Unix(0, int64(stats.LastGC)).Sub(startedAt)
	return stats.GCCPUFraction * since.Seconds() * float64(runtime.GOMAXPROCS(0))
}

func heapBytes() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// versions differ in how they hand keys to their metrics.
var versions = map[string]Metrics[string]{
	"now":  noMetrics[string]{},
	"0.31": boxedMetrics{},
}

func measure(name, version string, first, keyCount, count int, what string) (answer, error) {
	workload, found := workloads[name]
	if !found {
		return answer{}, fmt.Errorf("there is no workload %s", name)
	}
	metrics, found := versions[version]
	if !found {
		return answer{}, fmt.Errorf("there is no version %s", version)
	}
	keys := make([]string, keyCount)
	for at := range keys {
		keys[at] = fmt.Sprintf("namespace/object-%d", first+at)
	}
	var result answer
	if what == "heap" {
		before := heapBytes()
		workload(task{keys, count, metrics, func() { result.PeakBytes = heapBytes() - before }})
		runtime.KeepAlive(keys)
		return result, nil
	}
	runtime.GC()
	gcBefore, cpuBefore, start := gcSeconds(), cpuSeconds(), time.Now()
	workload(task{keys, count, metrics, func() {}})
	result.Seconds = time.Since(start).Seconds()
	result.CPUSeconds = cpuSeconds() - cpuBefore
	result.GCSeconds = gcSeconds() - gcBefore
	return result, nil
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var name, version, what string
		var first, keyCount, count int
		if _, err := fmt.Sscan(lines.Text(), &name, &version, &first, &keyCount, &count, &what); err != nil {
			fmt.Fprintf(os.Stderr, "cannot read the request %q: %v\n", lines.Text(), err)
			os.Exit(2)
		}
		result, err := measure(name, version, first, keyCount, count, what)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		if err := answers.Encode(result); err != nil {
			panic(err)
		}
	}
}
