import { connect, type Socket } from 'node:net'
import { type KubernetesServer, testKubernetes } from '@sluice/test-kubernetes'
import { expect, onTestFinished, test } from 'vitest'

const head = 'POST /api/v1/namespaces/shop/configmaps HTTP/1.1\r\nHost: a\r\nContent-Length: 100'

test.each<[string, (client: Socket, server: KubernetesServer) => void]>([
  ['its client is killed', (client) => client.destroy()],
  ['its connection is cut', (_, server) => server.disconnect()],
])('the server of tests drops a request whose body does not come because %s', async (_, cut) => {
  const errors: unknown[] = []
  const note = (error: unknown): void => void errors.push(error)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  const server = await testKubernetes()
  const client = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {})
  const ended = new Promise((resolve) => client.once('close', resolve))
  // It is asked for the rest once it has read the head.
  const isRead = new Promise((resolve) => client.once('data', resolve))
  client.write(`${head}\r\nExpect: 100-continue\r\n\r\n{`)
  await isRead
  cut(client, server)
  await ended
  await server.stop()
  // A rejection is reported some turns later.
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect([errors, server.list('/api/v1/configmaps')]).toEqual([[], []])
})
