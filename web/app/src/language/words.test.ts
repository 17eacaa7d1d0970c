import { isValidElement, type ReactElement } from 'react'
import { afterEach, expect, test } from 'vitest'

import { ago, dayName } from '../ui/time.ts'
import arabic from './ar/index.ts'
import { setLanguage, type Catalogue } from './language.ts'
import { count, listed, plural, rich, t } from './words.ts'

afterEach(() => setLanguage('en', {}))

const arabicWith = (catalogue: Catalogue, locale = 'ar') => setLanguage('ar', catalogue, locale)

test('English needs no catalogue', () => {
  expect(t('Stopped by {name}', { name: 'Ada' })).toBe('Stopped by Ada')
  expect([1, 2].map((n) => plural(n, '{n} reply', '{n} replies'))).toEqual(['1 reply', '2 replies'])
  expect(plural(1200, '{n} reply', '{n} replies')).toBe('1,200 replies')
  expect(listed(['Ada', 'Omar', 'Lina'])).toBe('Ada, Omar, and Lina')
})

test('a text that a catalogue lacks is shown in English', () => {
  arabicWith({})
  expect(t('Home')).toBe('Home')
  expect(plural(1, '{n} reply', '{n} replies')).toBe('1 reply')
})

test('each of the six Arabic forms is used', () => {
  arabicWith({ '{n} replies': { zero: '0', one: '1', two: '2', few: 'few {n}', many: 'many {n}', other: 'other {n}' } })
  expect([0, 1, 2, 3, 11, 100].map((n) => plural(n, '{n} reply', '{n} replies'))).toEqual(['0', '1', '2', 'few 3', 'many 11', 'other 100'])
})

test('a name keeps its own direction inside an Arabic text', () => {
  arabicWith({ 'Stopped by {name}': 'أوقفه {name}' })
  expect(t('Stopped by {name}', { name: 'Ada' })).toBe('أوقفه \u2068Ada\u2069')
})

test('elements stand where the language puts them', () => {
  arabicWith({ '{name} in {space}': '{space}: {name}' })
  const parts = rich('{name} in {space}', { name: 'Ada', space: 'Hall' }) as ReactElement<{ children: string }>[]
  expect(parts.filter((part) => isValidElement(part)).map((part) => part.props.children).join('')).toBe('\u2068Hall\u2069: \u2068Ada\u2069')
})

test('numbers, dates and relative times are those of the region', () => {
  const now = Date.parse('2026-11-19T12:00:00Z')
  arabicWith(arabic)
  expect(count(1234)).toBe('1,234')
  expect(ago('2026-11-16T12:00:00Z', now)).toBe('قبل 3 أيام')
  arabicWith(arabic, 'ar-EG')
  expect(count(1234)).toBe('١٬٢٣٤')
  expect(ago('2026-11-16T12:00:00Z', now)).toBe('قبل ٣ أيام')
  expect(dayName('2026-11-10T12:00:00Z', now)).toContain('نوفمبر')
})
