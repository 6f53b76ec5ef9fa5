import { examine } from '@sluice/conformance/vitest'
import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '../src/index.ts'

examine('the memory driver', () => ({ driver: memoryDriver(), clock: fakeClock() }))
