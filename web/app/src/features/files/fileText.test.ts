import { expect, test } from 'vitest'

import { decode } from './fileText.ts'

const bytes = (...values: number[]) => new Uint8Array(values).buffer

test('text is read as UTF-8, and as UTF-16 if it says so', () => {
  expect(decode(new TextEncoder().encode('مجلس').buffer as ArrayBuffer)).toBe('مجلس')
  expect(decode(bytes(0xff, 0xfe, 0x41, 0, 0x42, 0))).toBe('AB')
  expect(decode(bytes(0xfe, 0xff, 0, 0x41))).toBe('A')
})

test('a character that the end cuts in two is left out', () => {
  expect(decode(bytes(0x41, 0xd9))).toBe('A')
})

test('damaged text is marked', () => {
  expect(decode(bytes(0x41, 0xff, 0x42))).toBe('A\ufffdB')
})
