import { showPicture } from '@majlis/client'
import { usePicture, useStore } from '@majlis/client/react'
import { useRef, useState } from 'react'

import { t } from '../../language/words.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'

interface Props {
  entity: { id: string; name: string; type: 'human' | 'agent' | 'service'; picture: string | null }
  onChange?: (picture: string | null) => void
}

/** The picture of a person, agent or service, to be replaced or removed. */
export function PictureField({ entity, onChange }: Props) {
  const store = useStore()
  const input = useRef<HTMLInputElement>(null)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const { id, name, type } = entity
  const has = usePicture(id) !== null || entity.picture !== null
  const change = async (work: Promise<string | null>) => {
    setBusy(true)
    try {
      const picture = await work
      store.change((state) => showPicture(state, { id, picture }))
      onChange?.(picture)
      setProblem('')
    } catch (error) {
      setProblem((error as Error).message)
    }
    setBusy(false)
  }
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Avatar id={id} name={name} type={type} size="large" picture={entity.picture} />
      <Button disabled={busy} onClick={() => input.current?.click()}>{busy ? t('Uploading…') : has ? t('Change picture') : t('Upload picture')}</Button>
      {has && <Button disabled={busy} onClick={() => void change(store.client.entities.removePicture(id).then(() => null))}>{t('Remove picture')}</Button>}
      <input
        ref={input}
        type="file"
        accept="image/png,image/jpeg,image/gif,image/webp"
        hidden
        aria-label={t('Picture of {name}', { name })}
        onChange={(event) => {
          const [file] = event.target.files ?? []
          if (file) void change(store.client.entities.setPicture(id, file).then((changed) => changed.picture))
          event.target.value = ''
        }}
      />
      <p role="alert" className="w-full text-small text-bad empty:hidden">{problem}</p>
    </div>
  )
}
