import type { Message } from '@majlis/client'
import { expect, test } from 'vitest'

import { branchOf, countReplies } from './replies.ts'

const said = (id: string, replyTo: string | null, kind: Message['kind'] = 'text') => ({ id, replyTo, kind }) as Message
const ALL = [said('a', null), said('b', 'a'), said('c', null), said('d', 'b'), said('e', 'a'), said('f', 'c'), said('g', 'a', 'notice')]

test('a branch has direct and indirect replies, but no notices', () => {
  expect(branchOf('a', ALL).map((each) => each.id)).toEqual(['b', 'd', 'e'])
  expect(branchOf('d', ALL)).toEqual([])
})

test('only direct replies are counted', () => {
  expect([...countReplies(ALL)]).toEqual([['a', 2], ['b', 1], ['c', 1]])
})
