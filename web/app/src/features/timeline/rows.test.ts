import type { Message } from '@majlis/client'
import { expect, test } from 'vitest'

import { rowsOf } from './rows.ts'

const message = (seq: number, sender: string, clientId: string | null): Message => ({
  id: `msg_${seq}`, spaceId: 'spc_a', seq, sender: { id: sender, name: sender, type: 'human' }, kind: 'text', text: 'x', replyTo: null, mentions: [],
  origin: null, runId: null, chainDepth: 0, clientId, createdAt: '2026-11-16T08:00:00.000Z',
})

test('each row has a name of its own, though a clientId belongs to its sender only', () => {
  const history = [message(1, 'ent_service', '1'), message(2, 'ent_other', '1'), message(3, 'ent_me', '1'), message(4, 'ent_me', null)]
  const keys = rowsOf(history, [], [], null, 'ent_me').map((row) => row.key)
  expect(new Set(keys).size).toBe(keys.length)
  // One's own keeps the name that it had on its way.
  expect(keys).toContain('1')
})
