import { expect, test } from 'vitest'

import { keepShared, merged, type Choices } from './unsent.ts'

const choices = (part: Partial<Choices>): Choices => ({ theme: 'system', language: null, timeZone: null, order: 'newest', pinned: [], muted: [], archived: [], notify: {}, sound: false, quiet: null, ...part })

test('an old copy of a list adds and removes only what was changed in it', () => {
  keepShared('sara', choices({ muted: ['old', 'gone'] }))
  const saved = choices({ muted: ['old', 'gone', 'one', 'two'] })
  expect(merged('sara', 'muted', ['old', 'mine'], saved)).toEqual(['old', 'one', 'two', 'mine'])
  expect(merged('sara', 'muted', ['old', 'gone', 'two'], saved)).toEqual(['old', 'gone', 'one', 'two'])
})

test('an old copy of a map changes only its own spaces', () => {
  keepShared('sara', choices({ notify: { same: 'all', mine: 'all', removed: 'none' } }))
  const saved = choices({ notify: { same: 'none', mine: 'all', removed: 'none', theirs: 'decisions' } })
  expect(merged('sara', 'notify', { same: 'all', mine: 'mentions', added: 'all' }, saved)).toEqual({ same: 'none', theirs: 'decisions', mine: 'mentions', added: 'all' })
})

test('other choices, and those of a browser without an earlier state, stay as they were made', () => {
  expect(merged('omar', 'pinned', ['a'], choices({ pinned: ['b'] }))).toEqual(['a'])
  keepShared('omar', choices({}))
  expect(merged('omar', 'theme', 'dark', choices({ theme: 'light' }))).toBe('dark')
  expect(merged('omar', 'quiet', { from: '22:00', to: '07:00' }, choices({}))).toEqual({ from: '22:00', to: '07:00' })
})
