// The screens on which sentences are rewritten (VISLA).

import { kinds } from "./judge-forms.js";
import { paraphrase } from "./judge-paraphrase.js";
import { triplet } from "./judge-triplet.js";

Object.assign(kinds, { paraphrase, triplet });
