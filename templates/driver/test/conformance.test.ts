import { examine } from '@sluice/conformance/vitest'
import { fakeClock } from '@sluice/core/testing'
import { templateDriver } from '../src/index.ts'

// Every call makes a driver with an empty store of its own. A driver that is durable gives
// `restart` too, one with peers gives `peer`, and whatever leaves something behind gives `dispose`.
examine('template', () => ({ driver: templateDriver(), clock: fakeClock() }))
