import type { Case } from '../case.ts'
import { addCases } from './add.ts'
import { delayCases } from './delay.ts'
import { itemCases } from './items.ts'
import { latestCases } from './latest.ts'
import { orderCases } from './order.ts'
import { priorityCases } from './priority.ts'
import { subjectCases } from './subject.ts'

/** Every case of the contract half, the easiest promises first. */
export const allCases: readonly Case[] = [
  ...subjectCases,
  ...addCases,
  ...itemCases,
  ...orderCases,
  ...priorityCases,
  ...delayCases,
  ...latestCases,
]
