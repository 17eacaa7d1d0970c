import { useEffect, useState } from 'react'

import { t } from '../language/words.ts'
import { guardLeaving } from '../router.ts'
import { Button } from './Button.tsx'
import { Dialog } from './Dialog.tsx'

/** While `unsaved`, asks before the user leaves the page, within the app or by closing the tab. */
export function UnsavedGuard({ unsaved }: { unsaved: boolean }) {
  const [leave, setLeave] = useState<(() => void) | null>(null)
  useEffect(() => {
    if (!unsaved) return
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', onUnload)
    const release = guardLeaving((proceed) => setLeave(() => proceed))
    return () => {
      removeEventListener('beforeunload', onUnload)
      release()
    }
  }, [unsaved])
  if (!leave) return null
  return (
    <Dialog title={t('Discard changes?')} onClose={() => setLeave(null)} className="max-w-sm">
      <div className="space-y-4 p-5 pt-2">
        <p className="text-ink-soft">{t('Your changes haven’t been saved.')}</p>
        <div className="flex justify-end gap-2">
          <Button autoFocus onClick={() => setLeave(null)}>{t('Keep editing')}</Button>
          <Button look="bad" onClick={leave}>{t('Discard changes')}</Button>
        </div>
      </div>
    </Dialog>
  )
}
