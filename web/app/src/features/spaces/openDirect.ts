import type { Store } from '@majlis/client'

import { t } from '../../language/words.ts'
import { go, spacePath } from '../../router.ts'
import { toast } from '../../ui/toast.tsx'

/** Opens the direct conversation with a person or an agent. */
export async function openDirect(store: Store, entityId: string): Promise<void> {
  try {
    const { id } = await store.client.spaces.openDirect(entityId)
    go(spacePath(id))
  } catch (error) {
    toast(error instanceof Error ? error.message : t('The conversation could not be opened'))
  }
}
