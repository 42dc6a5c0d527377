interface DepartmentWords {
  readonly name: string
  readonly categories: readonly string[]
  /** What the subcategories of each category are made of: `<category> <kind>`. */
  readonly kinds: readonly string[]
}

/** Fictitious departments and categories of a general retailer. */
export const departments: readonly DepartmentWords[] = [
  {
    name: 'Tools',
    categories: ['Power Tools', 'Hand Tools', 'Tool Storage', 'Workwear', 'Welding', 'Ladders', 'Measuring'],
    kinds: ['Sets', 'Parts', 'Cases', 'Kits', 'Replacement Blades', 'Safety Gear', 'Benches'],
  },
  {
    name: 'Home',
    categories: ['Bedding', 'Bath', 'Curtains', 'Rugs', 'Lighting', 'Wall Decor', 'Kitchen & Dining', 'Storage'],
    kinds: ['Basics', 'Sets', 'Kids', 'Outdoor', 'Seasonal', 'Luxury', 'Replacement Parts'],
  },
  {
    name: 'Furniture',
    categories: ['Living Room', 'Bedroom', 'Office', 'Dining Room', 'Entryway', 'Patio'],
    kinds: ['Chairs', 'Tables', 'Cabinets', 'Shelves', 'Benches', 'Sets', 'Covers'],
  },
  {
    name: 'Electronics',
    categories: ['Televisions', 'Headphones', 'Cameras', 'Computers', 'Tablets', 'Wearables', 'Smart Home'],
    kinds: ['Refurbished', 'Cables', 'Mounts', 'Chargers', 'Cases', 'Bundles', 'Repair Parts'],
  },
  {
    name: 'Toys',
    categories: ['Building Sets', 'Dolls', 'Games', 'Puzzles', 'Ride-Ons', 'Outdoor Play', 'Learning Toys'],
    kinds: ['For Toddlers', 'Collectibles', 'Travel Size', 'Classics', 'Sets', 'Refills', 'Storage'],
  },
  {
    name: 'Baby',
    categories: ['Diapering', 'Feeding', 'Nursery', 'Strollers', 'Car Seats', 'Bath & Potty'],
    kinds: ['Newborn', 'Toddler', 'Travel', 'Sets', 'Refills', 'Organic', 'Replacement Parts'],
  },
  {
    name: 'Beauty',
    categories: ['Makeup', 'Skin Care', 'Hair Care', 'Fragrance', 'Nail Care', "Men's Grooming"],
    kinds: ['Tools', 'Gift Sets', 'Travel Size', 'Vegan', 'Refills', 'Sensitive', 'Professional'],
  },
  {
    name: 'Health',
    categories: ['Vitamins', 'First Aid', 'Oral Care', 'Vision', 'Pain Relief', 'Mobility'],
    kinds: ['Family Size', 'Kids', 'Seniors', 'Travel', 'Refills', 'Organic', 'Devices'],
  },
  {
    name: 'Grocery',
    categories: ['Snacks', 'Beverages', 'Breakfast', 'Pantry', 'Baking', 'Coffee', 'Candy', 'Pasta & Sauces'],
    kinds: ['Organic', 'Gluten Free', 'Family Size', 'Single Serve', 'Variety Packs', 'Seasonal', 'International'],
  },
  {
    name: 'Household Essentials',
    categories: ['Laundry', 'Cleaning', 'Paper', 'Batteries', 'Pest Control', 'Trash Bags'],
    kinds: ['Bulk', 'Plant Based', 'Refills', 'Unscented', 'Travel', 'Dispensers', 'Seasonal'],
  },
  {
    name: 'Pets',
    categories: ['Dogs', 'Cats', 'Fish', 'Birds', 'Small Animals', 'Reptiles'],
    kinds: ['Food', 'Treats', 'Toys', 'Beds', 'Grooming', 'Health', 'Carriers'],
  },
  {
    name: 'Sports & Outdoors',
    categories: ['Camping', 'Cycling', 'Fishing', 'Fitness', 'Team Sports', 'Water Sports', 'Winter Sports'],
    kinds: ['Apparel', 'Bags', 'Beginner Sets', 'Kids', 'Replacement Parts', 'Safety Gear', 'Electronics'],
  },
  {
    name: 'Auto & Tires',
    categories: ['Tires', 'Oils & Fluids', 'Interior', 'Exterior', 'Car Electronics', 'Replacement Parts'],
    kinds: ['Trucks', 'Motorcycles', 'Kits', 'Cleaning', 'Covers', 'Tools', 'Winter'],
  },
  {
    name: 'Garden',
    categories: ['Plants', 'Soil & Mulch', 'Watering', 'Grills', 'Patio Furniture', 'Lawn Mowers', 'Sheds'],
    kinds: ['Indoor', 'Organic', 'Kits', 'Covers', 'Replacement Parts', 'Seasonal', 'Decor'],
  },
  {
    name: 'Clothing',
    categories: ['Women', 'Men', 'Girls', 'Boys', 'Baby', 'Shoes', 'Plus Size'],
    kinds: ['Tops', 'Bottoms', 'Outerwear', 'Sleepwear', 'Activewear', 'Underwear', 'Swimwear'],
  },
  {
    name: 'Jewelry & Watches',
    categories: ['Necklaces', 'Rings', 'Earrings', 'Bracelets', 'Watches'],
    kinds: ['Gold', 'Silver', 'Birthstone', 'Personalized', 'Kids', 'Gift Sets', 'Repair'],
  },
  {
    name: 'Office Supplies',
    categories: ['Paper & Notebooks', 'Writing', 'Printers & Ink', 'Filing', 'Shipping Supplies'],
    kinds: ['Bulk', 'Refills', 'Recycled', 'Premium', 'School', 'Organizers', 'Sets'],
  },
  {
    name: 'Books',
    categories: ['Fiction', 'Cooking', 'Children', 'History', 'Science', 'Travel'],
    kinds: ['Hardcover', 'Paperback', 'Audiobooks', 'Boxed Sets', 'Large Print', 'Bestsellers', 'Used'],
  },
  {
    name: 'Party & Occasions',
    categories: ['Birthday', 'Wedding', 'Halloween', 'Christmas', 'Graduation'],
    kinds: ['Balloons', 'Tableware', 'Costumes', 'Invitations', 'Lights', 'Favors', 'Banners'],
  },
  {
    name: 'Arts, Crafts & Sewing',
    categories: ['Painting', 'Knitting', 'Sewing', 'Scrapbooking', 'Beading', 'Kids Crafts'],
    kinds: ['Kits', 'Tools', 'Storage', 'Patterns', 'Bulk', 'Refills', 'Beginner Sets'],
  },
]

/** A subcategory that hangs below many categories under the same name: names alone are no keys. */
export const sharedSubcategory = 'Accessories'

const firstSyllables = ['Ar', 'Bel', 'Cor', 'Dun', 'El', 'Fen', 'Gal', 'Har', 'Ister', 'Jun'] as const
const lastSyllables = ['vale', 'wick', 'mont', 'ora', 'stead', 'lux'] as const

/** Sixty made-up brands. */
export const brandNames: readonly string[] = firstSyllables.flatMap((first) => lastSyllables.map((last) => `${first}${last}`))

/** Attribute types with their values: an open set (public facts, section 8.1). */
export const attributes: readonly (readonly [type: string, values: readonly string[]])[] = [
  ['skin_color', ['good', 'light', 'medium', 'dark']],
  ['age_number', ['0-2', '3-5', '6-8', '9-12', '13+']],
  ['height_type', ['short', 'regular', 'tall']],
  ['material', ['cotton', 'steel', 'oak', 'plastic', 'glass']],
  ['pack_size', ['1', '2', '6', '12', '24']],
]
