import type { FileInfo } from '@majlis/client'
import Papa from 'papaparse'
import { useMemo } from 'react'

import { plural, t } from '../../language/words.ts'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { useHighlighted } from '../markdown/CodeBlock.tsx'
import { Markdown } from '../markdown/Markdown.tsx'
import { useFileText } from './fileText.ts'
import { sizeOf } from './kinds.ts'

const MOST_BYTES = 256_000
const MOST_ROWS = 500
const MOST_COLUMNS = 50
const NO_NAMES: readonly string[] = []

/** A text file: Markdown as in messages, a table of CSV, anything else as code. */
export function FileText({ file, as }: { file: FileInfo; as: string }) {
  const { data, problem } = useFileText(file, MOST_BYTES)
  if (!data) return <div className="p-5"><QueryStatus problem={problem} /></div>
  return (
    <>
      {data.more && <Note>{t('This is the first {size} of the file. Download it to read the rest.', { size: sizeOf(MOST_BYTES) })}</Note>}
      {as === 'table' ? <Table text={data.text} /> : as === 'markdown' ? <div className="p-5"><Markdown text={data.text} names={NO_NAMES} me="" /></div> : <Code text={data.text} language={languageOf(file)} />}
    </>
  )
}

function Code({ text, language }: { text: string; language: string }) {
  const highlighted = useHighlighted(text, language)
  return <pre dir="auto" tabIndex={0} aria-label={t('Text of the file')} className="px-5 py-4 font-mono text-[0.8125rem] leading-relaxed wrap-anywhere whitespace-pre-wrap"><code>{highlighted ?? text}</code></pre>
}

function Table({ text }: { text: string }) {
  // Only strings: nothing in a cell is a formula or a number to us.
  const rows = useMemo(() => Papa.parse<string[]>(text, { preview: MOST_ROWS + 1, skipEmptyLines: true }).data.map((row) => row.slice(0, MOST_COLUMNS)), [text])
  const [head = [], ...body] = rows
  return (
    <div tabIndex={0} role="group" aria-label={t('Table')} className="w-fit min-w-full">
      {body.length === MOST_ROWS && <Note>{plural(MOST_ROWS, 'This is the first row. Download the file to see all.', 'These are the first {n} rows. Download the file to see all.')}</Note>}
      <table dir="auto" className="min-w-full border-collapse text-small tabular-nums">
        <thead className="sticky top-0 bg-paper-low">
          <tr>{head.map((cell, n) => <th key={n} dir="auto" scope="col" className="border-b border-line-strong px-3 py-1.5 text-start font-semibold whitespace-nowrap first:ps-5">{cell}</th>)}</tr>
        </thead>
        <tbody>
          {body.map((row, n) => (
            <tr key={n} className="border-b border-line">{head.map((_, at) => <td key={at} dir="auto" className="max-w-xs px-3 py-1 align-top wrap-break-word first:ps-5">{row[at]}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Note({ children }: { children: React.ReactNode }) {
  return <p className="border-b border-line bg-decide-low px-5 py-2 text-small">{children}</p>
}

/** A hint for the highlighter, if it knows the language. Text is not a language. */
function languageOf({ name, mediaType }: FileInfo): string {
  if (mediaType === 'text/html' || mediaType === 'image/svg+xml') return 'xml'
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? ''
  return ending === 'txt' ? '' : ending
}
