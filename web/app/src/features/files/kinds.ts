/** The kind of a file, in words that people use, and its size. */
import type { FileInfo } from '@majlis/client'

const PICTURES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
const WORDS: Record<string, string> = {
  'application/pdf': 'PDF',
  'application/zip': 'Archive',
  'application/gzip': 'Archive',
  'application/json': 'Code',
  'application/xml': 'Code',
  'application/yaml': 'Code',
  'application/toml': 'Code',
  'text/csv': 'Table',
  'text/tab-separated-values': 'Table',
  'text/plain': 'Text',
  'text/markdown': 'Text',
  'image/svg+xml': 'Drawing',
}

/** Only these are shown as pictures; the server has checked that they are. SVG is a program, so it is a download. */
export const isPicture = (file: Pick<FileInfo, 'mediaType'>): boolean => PICTURES.has(file.mediaType)

export function kindOf({ mediaType }: Pick<FileInfo, 'mediaType'>): string {
  const [family] = mediaType.split('/')
  if (WORDS[mediaType]) return WORDS[mediaType]
  if (family === 'audio') return 'Audio'
  if (family === 'video') return 'Video'
  if (family === 'image') return 'Picture'
  if (family === 'text') return 'Code'
  return mediaType.includes('document') ? 'Document' : 'File'
}

export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return bytes < 999_500 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** For lines that have no room for files. */
export const fileNames = (files: readonly Pick<FileInfo, 'name'>[] | undefined): string => (files ?? []).map((file) => file.name).join(', ')
