import type { SpaceFile, SpaceState } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { rich, t } from '../../language/words.ts'
import { messagePath } from '../../router.ts'
import { Button } from '../../ui/Button.tsx'
import { Link } from '../../ui/Link.tsx'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { brief } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { FileCard } from './FileCard.tsx'
import { FileRow } from './FileRow.tsx'
import { PictureViewer } from './Files.tsx'
import { isPicture } from './kinds.ts'
import { previewOf } from './previews.ts'

const PAGE = 60

/** All files of a space, newest first: pictures as a grid, the others as rows with their message. */
export function Gallery({ space }: { space: SpaceState }) {
  const { client } = useStore()
  const spaceId = space.facts.id
  // Changes when a message with files arrives or the newest one is deleted.
  const version = space.history?.findLast((message) => message.files?.length)?.id ?? ''
  const { data, problem, reload } = useQuery(`files ${spaceId}`, () => client.files.list(spaceId, { limit: PAGE }), version)
  const [more, setMore] = useState<{ files: readonly SpaceFile[]; hasMore: boolean }>({ files: [], hasMore: true })
  const [shown, setShown] = useState<string | null>(null)
  if (!data) return <QueryStatus problem={problem} />
  const known = new Set(data.files.map((file) => file.id))
  const files = [...data.files, ...more.files.filter((file) => !known.has(file.id))]
  const load = async () => {
    const page = await client.files.list(spaceId, { limit: PAGE, before: files.at(-1)!.id })
    setMore({ files: [...more.files, ...page.files], hasMore: page.hasMore })
  }
  const pictures = files.filter(isPicture)
  const others = files.filter((file) => !isPicture(file))
  if (files.length === 0) return <p className="text-small text-ink-soft">{t('No files yet. To attach files to a message, use the paper clip, or paste or drop them.')}</p>
  return (
    <div className="space-y-5">
      {pictures.length > 0 && (
        <section>
          <h3 className="mb-2 font-sans text-small text-ink-soft">{t('Pictures')}</h3>
          <ul aria-label={t('Pictures of this space')} className="grid grid-cols-3 gap-2">
            {pictures.map((file) => (
              <li key={file.id}>
                <button type="button" aria-label={t('Enlarge {name}', { name: file.name })} title={t('{file}, from {name}', { file: file.name, name: file.sender.name })} className="block aspect-square w-full cursor-zoom-in overflow-hidden rounded-md border border-line bg-paper-low" onClick={() => setShown(file.id)}>
                  <img src={client.files.url(file.id)} alt="" loading="lazy" decoding="async" className="size-full object-cover" />
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {others.length > 0 && (
        <section>
          <h3 className="mb-2 font-sans text-small text-ink-soft">{t('Files')}</h3>
          <ul aria-label={t('Files of this space')} className="space-y-3">
            {others.map((file) => (
              <li key={file.id}>
                {previewOf(file) ? <FileCard file={file} glimpse={false} /> : <FileRow file={file} />}
                <Link href={`${messagePath(spaceId, file.messageId)}${location.search}`} className="mt-0.5 block truncate rounded-sm px-1 text-tiny text-ink-soft hover:text-ink hover:underline">
                  {rich('From {name}, {time}', { name: <bdi>{file.sender.name}</bdi>, time: brief(file.createdAt) })}
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
      {data.hasMore && more.hasMore && <Button onClick={() => void load().catch(reload)}>{t('Load earlier files')}</Button>}
      {shown && <PictureViewer pictures={pictures} start={shown} onClose={() => setShown(null)} />}
    </div>
  )
}
