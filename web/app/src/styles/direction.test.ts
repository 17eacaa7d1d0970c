/** Languages that are written from right to left need styles that name the start and the end of a line, not a side. */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

import { expect, test } from 'vitest'

import { SOURCES, sourceFiles } from '../../../tests/harness/messageScan.ts'

/** Classes such as `ml-2`, `-right-1`, `md:pl-4`, `text-left` and `-translate-x-1/2`. */
const CLASSES = /(?<![\w-])-?(?:(?:m|p|scroll-m|scroll-p)[lr]-[\w[]|(?:left|right)-[\w[]|border-[lr](?![\w])|rounded-(?:[lr]|[tb][lr])(?!\w)|(?:text|float|clear|object|bg|origin)-(?:left|right)(?!\w)|origin-(?:top|bottom)-(?:left|right)|translate-x-)/g
const PROPERTIES = /(?<![\w-])(?:(?:margin|padding|border)-(?:left|right)|border-(?:top|bottom)-(?:left|right)-radius|(?:text-align|float|clear): *(?:left|right)|(?:left|right):)/g
const INLINE = /(?<!\w)(?:(?:margin|padding|border)(?:Left|Right)|left|right)(?=: [`'"\d])/g

const sidesIn = (ending: RegExp, ...patterns: RegExp[]): string[] =>
  sourceFiles(ending).flatMap((path) =>
    readFileSync(path, 'utf8').split('\n').flatMap((line, n) => patterns.flatMap((pattern) => line.match(pattern) ?? []).map((side) => `${relative(SOURCES, path)}:${n + 1}: ${side}`)))

test('no style names the left or the right side', () => {
  expect(sidesIn(/\.tsx?$/, CLASSES, INLINE)).toEqual([])
  expect(sidesIn(/\.css$/, PROPERTIES)).toEqual([])
})

test('facts are separated by a sign that no digit looks like', () => {
  // In names for the browser and the desktop there are no digits.
  const others = /App\.tsx|useNotifications\.ts|format\.ts/
  expect(sourceFiles().filter((path) => !others.test(path) && readFileSync(path, 'utf8').includes(' · '))).toEqual([])
})

test('the patterns find them', () => {
  const classes = ['ml-2', '-mr-1', 'md:pl-4', 'left-1/2', '-right-0.5', '-left-[3px]', 'border-l', 'border-r-2', 'rounded-tl-md', 'text-left', 'origin-top-right', '-translate-x-1/2']
  expect(classes.filter((each) => `className="flex ${each} grow"`.match(CLASSES) === null)).toEqual([])
  expect(['text-large', 'ms-2', 'border-line', 'rounded-lg', 'translate-y-1', 'copyright-2'].filter((each) => ` ${each} `.match(CLASSES) !== null)).toEqual([])
  expect(['margin-left: 1px', 'left: 0', 'text-align: right'].filter((each) => each.match(PROPERTIES) === null)).toEqual([])
  expect("style={{ left: '3px' }}".match(INLINE)).toEqual(['left'])
})
