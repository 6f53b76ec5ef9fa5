/**
 * The driver that keeps keys in Redis or Valkey. Its verbs reach the servers through `Connections`.
 *
 * @packageDocumentation
 */
export {
  type Barrier,
  ConnectionError,
  type Connections,
  type Reply,
  ReplyError,
  type Subscription,
} from './connection/connections.ts'
