import { expect, test } from 'vitest'

import { scan, sourceFiles, type Found } from '../../../tests/harness/messageScan.ts'
import arabic, { PARTS } from './ar/index.ts'
import type { Catalogue } from './language.ts'

const files = sourceFiles().map(scan)
const messages = new Map(files.flatMap((file) => file.messages).map((each) => [each.text, each]))
const catalogues: [string, Catalogue][] = [['ar', arabic]]

/** Without the settings of agents, whose texts come from the server. tests/web/test_setting_texts.py compares them. */
const keysOf = (catalogue: Catalogue): string[] => Object.keys(catalogue).filter((text) => !text.startsWith('setting: '))

const places = (text: string): string[] => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!))].toSorted()
const at = ({ at, text }: Found): string => `${at}: ${text}`

test('every text of the app is a message', () => {
  expect(files.flatMap((file) => file.literals).map(at)).toEqual([])
  expect(messages.size).toBeGreaterThan(700)
})

test.each(catalogues)('%s has every message, and no other', (_, catalogue) => {
  const missing = [...messages.values()].filter(({ text }) => !Object.hasOwn(catalogue, text))
  expect(missing.map(at), 'add these to the catalogue').toEqual([])
  expect(keysOf(catalogue).filter((text) => !messages.has(text)), 'the app no longer has these').toEqual([])
})

test('no message is in two parts of a catalogue', () => {
  const texts = PARTS.flatMap((part) => Object.keys(part))
  expect(texts.filter((text, n) => texts.indexOf(text) !== n)).toEqual([])
})

test.each(catalogues)('%s has the same places in a message, and a form for each kind of number', (language, catalogue) => {
  const kinds = new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted()
  for (const text of keysOf(catalogue)) {
    const translated = catalogue[text]!
    const message = messages.get(text)!
    expect(typeof translated, text).toBe(message.plural ? 'object' : 'string')
    if (typeof translated === 'string') expect(places(translated), text).toEqual(places(text))
    else {
      expect(Object.keys(translated).toSorted(), text).toEqual(kinds)
      for (const [kind, form] of Object.entries(translated)) {
        // "One" and "two" can be words.
        const words = ['zero', 'one', 'two'].includes(kind)
        expect(places(form).filter((place) => !words || place !== 'n'), `${text} (${kind})`).toEqual(places(text).filter((place) => !words || place !== 'n'))
      }
    }
  }
})
