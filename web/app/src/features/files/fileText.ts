/** The beginning of a file as text. */
import type { FileInfo } from '@majlis/client'
import { useStore } from '@majlis/client/react'

import { useQuery, type Query } from '../../ui/useQuery.ts'

export interface FileText {
  text: string
  /** The file goes on. */
  more: boolean
}

export function useFileText(file: FileInfo, bytes: number): Query<FileText> {
  const { client } = useStore()
  return useQuery(`text ${file.id} ${bytes}`, async () => ({
    text: decode(await client.files.read(file.id, { end: bytes })),
    more: file.bytes > bytes,
  }))
}

/** UTF-8, or UTF-16 with its mark. Characters that the end cuts in two are left out, and those that are damaged are marked. */
export function decode(content: ArrayBuffer): string {
  const [first, second] = new Uint8Array(content)
  const wide = first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : null
  return new TextDecoder(wide ?? 'utf-8').decode(content, { stream: true })
}
