import { describe, expect, test } from 'vitest'

import { chunksOf } from './chunks.ts'

const words = (length: number) => 'word '.repeat(Math.ceil(length / 5)).slice(0, length)

describe('a long text is split into chunks', () => {
  test.each([
    ['short', 'Hello'],
    ['paragraphs', Array.from({ length: 40 }, (_, n) => `${n} ${words(300)}`).join('\n\n')],
    ['one line', words(20_000)],
    ['no spaces', 'x'.repeat(20_000)],
    ['code', `${words(2000)}\n\n\`\`\`js\n${'const a = 1\n\n'.repeat(2000)}\`\`\`\n${words(3000)}`],
    ['code that never ends', `\`\`\`\n${'a\n\n'.repeat(5000)}`],
    ['a list', `- ${words(200)}\n\n  ${words(200)}\n`.repeat(40)],
    ['lines', 'a\n'.repeat(8000)],
  ])('%s: no text is lost, and only code exceeds the limit', (_, text) => {
    const chunks = chunksOf(text)
    expect(chunks.map((chunk) => chunk.text).join('')).toBe(text)
    expect(chunks.map((chunk) => text.slice(chunk.at, chunk.at + chunk.text.length))).toEqual(chunks.map((chunk) => chunk.text))
    const long = chunks.filter((chunk) => chunk.text.length > 4000)
    expect(long.every((chunk) => chunk.text.includes('```'))).toBe(true)
  })

  test('a 64 KB message of emphasis marks is not parsed (it took a tab seconds)', () => {
    expect(chunksOf('*a_'.repeat(21_845)).every((chunk) => chunk.plain)).toBe(true)
  })

  test('code blocks and list items are not split', () => {
    const code = `\`\`\`js\n${'one()\n\n'.repeat(1000)}\`\`\`\n`
    expect(chunksOf(`${words(1600)}\n\n${code}${words(1600)}`).map((chunk) => chunk.text)).toContain(code)
    const items = chunksOf(`- ${words(200)}\n\n  more\n`.repeat(12))
    expect(items.every((chunk) => chunk.text.startsWith('- '))).toBe(true)
  })

  test('a text with link references is split later, so that they resolve', () => {
    const text = `${`${words(1000)} [one]\n\n`.repeat(5)}[one]: https://example.org\n`
    expect(chunksOf(text)).toHaveLength(1)
  })

  test('while text is added only the last chunk changes', () => {
    const text = Array.from({ length: 30 }, (_, n) => `${n} ${words(400)}`).join('\n\n')
    const [before, after] = [chunksOf(text), chunksOf(`${text} and more`)]
    expect(after.slice(0, -1)).toEqual(before.slice(0, -1))
  })

  test.each([
    ['quotes in quotes', `${'>'.repeat(50)} x`, true],
    ['lists in lists', `${'- '.repeat(50)}x`, true],
    ['a very wide table', `|${'a|'.repeat(60)}\n|${'-|'.repeat(60)}\n|a|`, true],
    ['a list nested by indentation', Array.from({ length: 19 }, (_, n) => `${'  '.repeat(n)}- x`).join('\n'), true],
    ['a flood of emphasis', '*a_'.repeat(1000), true],
    ['a flood of brackets', '[a]'.repeat(1000), true],
    ['code with many marks', `\`\`\`\n${'*a_\n'.repeat(900)}\`\`\`\n`, false],
    ['much emphasis', 'some **bold** and _slanted_ words here. '.repeat(20), false],
    ['a line', '-'.repeat(80), false],
    ['a quote', '> > a', false],
    ['a table', '| a | b |\n|---|---|\n| 1 | 2 |', false],
  ])('%s', (_, text, plain) => {
    expect(chunksOf(text)[0]!.plain).toBe(plain)
  })
})
