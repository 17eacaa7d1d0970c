import type { Message, Tool } from '@majlis/client'
import { expect, test } from 'vitest'

import { rowsOf } from './rows.ts'

const message = (seq: number, sender: string, clientId: string | null): Message => ({
  id: `msg_${seq}`, spaceId: 'spc_a', seq, sender: { id: sender, name: sender, type: 'human' }, kind: 'text', text: 'x', replyTo: null, mentions: [],
  origin: null, runId: null, chainDepth: 0, clientId, createdAt: '2026-11-16T08:00:00.000Z',
})

test('rows have unique keys even if senders use the same clientId', () => {
  const history = [message(1, 'ent_service', '1'), message(2, 'ent_other', '1'), message(3, 'ent_me', '1'), message(4, 'ent_me', null)]
  const keys = rowsOf(history, [], [], null, 'ent_me').map((row) => row.key)
  expect(new Set(keys).size).toBe(keys.length)
  // The user's own message keeps the key it had before it was stored.
  expect(keys).toContain('1')
})

test('day rows have unique keys even if the server clock was set back', () => {
  const at = (seq: number, createdAt: string): Message => ({ ...message(seq, 'ent_other', null), createdAt })
  const history = [at(1, '2026-11-16T12:00:00.000Z'), at(2, '2026-11-18T12:00:00.000Z'), at(3, '2026-11-16T12:01:00.000Z'), at(4, '2026-11-18T12:02:00.000Z')]
  const days = rowsOf(history, [], [], null, 'ent_me').filter((row) => row.kind === 'day')
  expect(new Set(days.map((row) => row.key)).size).toBe(4)
})

test('tool calls belong to the group of their sender, and cards do not', () => {
  const tool = (seq: number, ui: 'approval' | null): Message => ({ ...message(seq, 'ent_agent', null), kind: 'tool', tool: { name: 'weather', callId: `call_${seq}`, ui, status: 'complete', input: {}, output: {} } as unknown as Tool })
  const history = [message(1, 'ent_agent', null), tool(2, null), tool(3, null), message(4, 'ent_agent', null), tool(5, 'approval'), message(6, 'ent_agent', null)]
  const rows = rowsOf(history, [], [], null, 'ent_me').filter((row) => row.kind === 'message')
  expect(rows.map((row) => row.first)).toEqual([true, false, false, false, true, true])
})

test('a notice about a loaded message has no row of its own, and the rows cover all numbers', () => {
  const notice: Message = { ...message(3, 'ent_gateway', null), kind: 'notice', replyTo: 'msg_1' }
  const rows = rowsOf([message(1, 'ent_me', null), message(2, 'ent_other', null), notice], [], [], null, 'ent_me').filter((row) => row.kind === 'message')
  expect(rows.map((row) => row.message.seq)).toEqual([1, 2])
  expect(rows[0]!.notices).toEqual([notice])
  expect(rows[1]!.lastSeq).toBe(3)
  expect(rowsOf([notice], [], [], null, 'ent_me').at(-1)).toMatchObject({ kind: 'message', message: notice })
})
