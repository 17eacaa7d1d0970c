import { useIsOnline } from '@majlis/client/react'

import { t } from '../../language/words.ts'

/** A green dot for a person who has the app open. `corner` puts it on their avatar. */
export function OnlineDot({ id, corner = false }: { id: string; corner?: boolean }) {
  if (!useIsOnline(id)) return null
  const place = corner ? 'absolute -end-0.5 -bottom-0.5 border-2 border-paper' : ''
  return <span title={t('Online')} className={`inline-block shrink-0 rounded-full bg-online ${corner ? 'size-2.5' : 'size-2'} ${place}`}><span className="unseen">{t('online')}</span></span>
}
