export { type FakeClock, fakeClock } from '@sluice/core/testing'
