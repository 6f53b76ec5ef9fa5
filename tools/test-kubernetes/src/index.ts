/**
 * A server that speaks the part of the Kubernetes API that informers use: lists, watches with
 * bookmarks, resource versions that rise and expire, and objects that are created, replaced and
 * deleted. It breaks on request as a real one does. Real HTTP; no Kubernetes.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** The part of an object that the server looks at. */
export interface ApiObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly resourceVersion?: string
    readonly uid?: string
    readonly ownerReferences?: readonly object[]
  }
  readonly spec?: unknown
  readonly status?: unknown
  readonly data?: unknown
}

/** An answer that is not the usual one. */
export interface Trouble {
  /** Which requests: `list`, `watch` or both. */
  readonly of?: 'list' | 'watch'
  readonly status: number
  /** For how many requests. Default 1. */
  readonly times?: number
}

interface ApiEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly version: number
  readonly collection: string
  readonly object: ApiObject
}

interface Watcher {
  readonly collection: string
  readonly response: ServerResponse
}

/** A server that runs. */
export class KubernetesServer {
  readonly #http = createServer((request, response) => void this.#answer(request, response))
  readonly #objects = new Map<string, Map<string, ApiObject>>()
  readonly #watchers = new Set<Watcher>()
  readonly #sockets = new Set<Socket>()
  readonly #troubles: { of: string | undefined; status: number; left: number }[] = []
  #events: ApiEvent[] = []
  #version = 1_000
  #oldest = 1_000
  /** How many lists and watches were answered with success. */
  readonly served = { list: 0, watch: 0 }
  #onServed: (() => void) | undefined
  #stall: Promise<void> | undefined
  /** How many requests to change an object wait, or were cut while they waited. */
  stalled = 0

  /** Starts the server. */
  async start(): Promise<this> {
    this.#http.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    await new Promise<void>((resolve) => {
      this.#http.listen(0, '127.0.0.1', resolve)
    })
    return this
  }

  /** Where it listens. */
  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`
  }

  /** How many watches are open. */
  get watches(): number {
    return this.#watchers.size
  }

  /** Ends the server and its connections. */
  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#http.close(() => resolve())
    })
    this.disconnect()
    await closed
  }

  /** Creates or replaces an object of a collection, such as `/apis/apps/v1/deployments`. */
  set(collection: string, object: ApiObject): ApiObject {
    const objects = this.#collection(collection)
    const id = idOf(object)
    const former = objects.get(id)
    this.#version += 1
    const resourceVersion = String(this.#version)
    const uid = former?.metadata.uid ?? `uid-${resourceVersion}`
    const stored = { ...object, metadata: { uid, ...object.metadata, resourceVersion } }
    objects.set(id, stored)
    this.#emit(former === undefined ? 'ADDED' : 'MODIFIED', collection, stored)
    return stored
  }

  /** Deletes an object. */
  delete(collection: string, namespace: string | undefined, name: string): void {
    const objects = this.#collection(collection)
    const id = idOf({ metadata: namespace === undefined ? { name } : { name, namespace } })
    const object = objects.get(id)
    if (object === undefined) return
    objects.delete(id)
    this.#version += 1
    const resourceVersion = String(this.#version)
    const metadata = { ...object.metadata, resourceVersion }
    this.#emit('DELETED', collection, { ...object, metadata })
  }

  /** The objects of a collection. */
  list(collection: string): readonly ApiObject[] {
    return [...this.#collection(collection).values()]
  }

  /** Sends a bookmark to every watch: the version so far, and no change. */
  bookmark(): void {
    for (const { response } of this.#watchers) {
      const metadata = { resourceVersion: String(this.#version) }
      send(response, { type: 'BOOKMARK', object: { kind: 'Bookmark', apiVersion: 'v1', metadata } })
    }
  }

  /** Ends every watch in the regular way, as a server does after some minutes. */
  endWatches(): void {
    for (const { response } of this.#watchers) response.end()
    this.#watchers.clear()
  }

  /** Cuts every connection. */
  disconnect(): void {
    this.#watchers.clear()
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Neither carries out nor answers requests that change an object, until the result is called. */
  stallWrites(): () => void {
    let goOn = (): void => {}
    this.#stall = new Promise((resolve) => {
      goOn = resolve
    })
    return () => {
      this.#stall = undefined
      goOn()
    }
  }

  /** Forgets all events: a watch from an earlier version is answered with 410 Gone. */
  compact(): void {
    this.#events = []
    this.#oldest = this.#version
  }

  /** Answers the next requests with an error. */
  fail({ of, status, times = 1 }: Trouble): void {
    this.#troubles.push({ of, status, left: times })
  }

  /** Resolves when so many watches have been begun in all. */
  async untilWatches(count: number): Promise<void> {
    while (this.served.watch < count) {
      await new Promise<void>((resolve) => {
        this.#onServed = resolve
      })
    }
  }

  #collection(name: string): Map<string, ApiObject> {
    let objects = this.#objects.get(name)
    if (objects === undefined) {
      objects = new Map()
      this.#objects.set(name, objects)
    }
    return objects
  }

  #emit(type: ApiEvent['type'], collection: string, object: ApiObject): void {
    this.#events.push({ type, version: this.#version, collection, object })
    for (const watcher of this.#watchers) {
      if (watcher.collection === collection) send(watcher.response, { type, object })
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server')
    const [, prefix, namespace, plural, name] = namespacedPath.exec(pathname) ?? []
    if (namespace !== undefined) {
      const collection = `${prefix}/${plural}`
      await this.#write(request, response, { collection, namespace, name })
      return
    }
    const kind = searchParams.get('watch') === 'true' ? 'watch' : 'list'
    const trouble = this.#troubles.find(({ of, left }) => left > 0 && (of ?? kind) === kind)
    if (trouble !== undefined) {
      trouble.left -= 1
      reply(response, trouble.status, { kind: 'Status', code: trouble.status })
      return
    }
    if (kind === 'watch') this.#watch(pathname, searchParams.get('resourceVersion'), response)
    else {
      const items = this.list(pathname)
      const metadata = { resourceVersion: String(this.#version) }
      reply(response, 200, { kind: 'List', apiVersion: 'v1', metadata, items })
    }
    this.served[kind] += 1
    this.#onServed?.()
  }

  /** Reads or changes one object of a namespace. */
  async #write(
    request: IncomingMessage,
    response: ServerResponse,
    { collection, namespace, name }: Place,
  ): Promise<void> {
    const text = await bodyOf(request)
    if (text === undefined) return
    if (this.#stall !== undefined && request.method !== 'GET') {
      this.stalled += 1
      await this.#stall
      if (response.destroyed) return
    }
    const body = text === '' ? undefined : (JSON.parse(text) as ApiObject)
    const id = `${namespace}/${name ?? body?.metadata.name ?? ''}`
    const former = this.#collection(collection).get(id)
    const { method } = request
    if (method === 'POST' ? former !== undefined : former === undefined) {
      const code = former === undefined ? 404 : 409
      reply(response, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code })
    } else if (method === 'GET') reply(response, 200, former ?? {})
    else if (method === 'DELETE') {
      this.delete(collection, namespace, name ?? '')
      reply(response, 200, { kind: 'Status', apiVersion: 'v1', status: 'Success' })
    } else if (body !== undefined) {
      const stored = { ...body, metadata: { ...body.metadata, namespace } }
      reply(response, method === 'POST' ? 201 : 200, this.set(collection, stored))
    }
  }

  #watch(collection: string, from: string | null, response: ServerResponse): void {
    const since = Number(from ?? this.#version)
    response.writeHead(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' })
    response.flushHeaders()
    if (since < this.#oldest) {
      // As a real server does: 200, and the error as an event.
      const object = {
        kind: 'Status',
        code: 410,
        reason: 'Expired',
        message: 'too old resource version',
      }
      send(response, { type: 'ERROR', object })
      response.end()
      return
    }
    const watcher = { collection, response }
    for (const { type, version, object, collection: of } of this.#events) {
      if (of === collection && version > since) send(response, { type, object })
    }
    this.#watchers.add(watcher)
    response.on('close', () => this.#watchers.delete(watcher))
  }
}

/** The path of objects in one namespace. */
const namespacedPath =
  /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/

interface Place {
  readonly collection: string
  readonly namespace: string
  readonly name: string | undefined
}

function idOf({ metadata }: ApiObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`
}

/** The body of a request; undefined if its client was killed, or its connection cut, before all of it had come. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  let text = ''
  try {
    for await (const chunk of request) text += String(chunk)
  } catch {
    return undefined
  }
  return text
}

function send(response: ServerResponse, event: object): void {
  response.write(`${JSON.stringify(event)}\n`)
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

/** Starts a server. */
export async function testKubernetes(): Promise<KubernetesServer> {
  return await new KubernetesServer().start()
}
