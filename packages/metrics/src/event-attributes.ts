import type { Attributes } from '@opentelemetry/api'
import type { SluiceEvent } from '@sluice/core'

/** The attributes that every span of a queue has, by OpenTelemetry's conventions for messaging. */
export function eventAttributes(
  { queue, driver }: SluiceEvent,
  operation: string,
  type: string,
): Attributes {
  return {
    'messaging.system': 'sluice',
    'messaging.destination.name': queue,
    'messaging.operation.name': operation,
    'messaging.operation.type': type,
    'sluice.driver': driver,
    // Not the commit: the caller's transaction may still be rolled back.
    'sluice.reports': 'statement',
  }
}
