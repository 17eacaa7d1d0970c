/** Calls over connections that break, against a small HTTP server. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { afterAll, afterEach, expect, test } from 'vitest'

import { createClient } from '../src/index.ts'

/** So many connections break, then the server answers. */
let toBreak = 0
let methods: string[] = []
const server = createServer((request, response) => {
  methods.push(request.method!)
  if (methods.length <= toBreak) request.socket.destroy()
  else response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"spaces": []}')
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const client = createClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })

afterAll(() => {
  server.closeAllConnections()
  server.close()
})
afterEach(() => {
  methods = []
})

test('a read is sent again when its connection breaks, as in a browser whose network changes', async () => {
  toBreak = 2
  expect(await client.spaces.listAll()).toEqual({ spaces: [] })
  expect(methods).toEqual(['GET', 'GET', 'GET'])
})

test('a read gives up after three attempts', async () => {
  toBreak = 3
  await expect(client.spaces.listAll()).rejects.toMatchObject({ status: 0, code: 'unreachable' })
  expect(methods).toEqual(['GET', 'GET', 'GET'])
})

test('a write is not sent again, because it may have arrived', async () => {
  toBreak = 1
  await expect(client.spaces.create({ name: 'Hall' })).rejects.toMatchObject({ code: 'unreachable' })
  expect(methods).toEqual(['POST'])
})
