/** The kind of a file, in words that people use, and its size. */
import type { FileInfo } from '@majlis/client'

import { msg, t } from '../../language/words.ts'
import { oneDecimal } from '../../ui/format.ts'

const PICTURES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
const WORDS: Record<string, string> = {
  'application/pdf': msg('PDF'),
  'application/zip': msg('Compressed file'),
  'application/gzip': msg('Compressed file'),
  'application/json': msg('Code'),
  'application/xml': msg('Code'),
  'application/yaml': msg('Code'),
  'application/toml': msg('Code'),
  'text/csv': msg('Table'),
  'text/tab-separated-values': msg('Table'),
  'text/plain': msg('Text'),
  'text/markdown': msg('Text'),
  'image/svg+xml': msg('Drawing'),
}

/** Only these are shown as pictures; the server has checked that they are. SVG is a program, so it is a download. */
export const isPicture = (file: Pick<FileInfo, 'mediaType'>): boolean => PICTURES.has(file.mediaType)

export function kindOf({ mediaType }: Pick<FileInfo, 'mediaType'>): string {
  const [family] = mediaType.split('/')
  if (WORDS[mediaType]) return t(WORDS[mediaType])
  if (family === 'audio') return t('Audio')
  if (family === 'video') return t('Video')
  if (family === 'image') return t('Picture')
  if (family === 'text') return t('Code')
  return mediaType.includes('document') ? t('Document') : t('File')
}

export function sizeOf(bytes: number): string {
  if (bytes < 1000) return t('{n} B', { n: bytes })
  return bytes < 999_500 ? t('{n} kB', { n: Math.round(bytes / 1000) }) : t('{n} MB', { n: oneDecimal(bytes / 1_000_000) })
}

/** For lines that have no room for files. */
export const fileNames = (files: readonly Pick<FileInfo, 'name'>[] | undefined): string => (files ?? []).map((file) => file.name).join(t(', '))
