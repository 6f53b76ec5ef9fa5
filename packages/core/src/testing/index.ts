export { type FakeClock, type FakeClockOptions, fakeClock } from './fake-clock.ts'
