/** Which files can be shown, and how: by the type that the server has found in the content, never by the name. */
import type { FileInfo } from '@majlis/client'

export type Preview = 'pdf' | 'table' | 'markdown' | 'text' | 'audio' | 'video'

const TEXTS = /^(text\/|application\/(json|xml|yaml|toml)$|image\/svg\+xml$)/
const BY_TYPE: Record<string, Preview> = {
  'application/pdf': 'pdf',
  'text/csv': 'table',
  'text/tab-separated-values': 'table',
  'text/markdown': 'markdown',
}
/** The space below the row of a file, in pixels. It has this height before its content is loaded, so that nothing moves. */
const BELOW: Partial<Record<Preview, number>> = { table: 104, markdown: 104, text: 104, audio: 52, video: 212 }

/** Null: only a download. Markup and drawings are shown as their source. */
export function previewOf({ mediaType }: Pick<FileInfo, 'mediaType'>): Preview | null {
  const media = /^(audio|video)\//.exec(mediaType)?.[1]
  return BY_TYPE[mediaType] ?? (media as 'audio' | 'video' | undefined) ?? (TEXTS.test(mediaType) ? 'text' : null)
}

export const heightBelow = (file: Pick<FileInfo, 'mediaType'>): number => BELOW[previewOf(file) ?? 'pdf'] ?? 0
