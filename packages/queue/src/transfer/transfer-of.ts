import { type Driver, type Operate, SluiceTypeError, type Transfer } from '@sluice/core'

/** The verbs of a driver that move keys; throws where it has none. */
export function transferOf(parameter: string, driver: Driver): Transfer {
  if (driver.transfer !== undefined) return driver.transfer
  throw new SluiceTypeError(
    parameter,
    `cannot be moved from or to: the driver ${driver.name} has no verbs for that`,
  )
}

/** The verbs of an operator; throws where a driver has none. */
export function operateOf(parameter: string, driver: Driver): Operate {
  if (driver.operate !== undefined) return driver.operate
  throw new SluiceTypeError(
    parameter,
    `cannot be paused: the driver ${driver.name} has no verbs for that`,
  )
}
