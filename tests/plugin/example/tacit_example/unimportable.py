"""A module that needs what nobody has installed."""

import no_package_has_this_name

Lost = LOST = no_package_has_this_name
